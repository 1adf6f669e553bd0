"""A LiteLLM proxy that adds the skill to conversations where it helps.

In the proxy's config.yaml:  litellm_settings: {callbacks: litellm_gate.callback}
Keep this file beside it, and run:  litellm --config config.yaml
"""

import os

from skilldelta.integrations.litellm_callback import SkillDeltaCallback
from skilldelta.integrations.skill_gate import SkillGate

callback = SkillDeltaCallback(SkillGate.from_bank("warehouse-units", os.environ.get("SKILLDELTA_BANK", "demo.bank")))
