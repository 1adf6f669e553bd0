"""The one implementation of the decision: a question in, advice with all its evidence out.

The command line, the server and every plugin ask an `Advisor`; none of them predicts by itself.
"""

from skilldelta.advisor.advice import Advice, Explanation, Neighbor, Policy, Question, ScopeChoice
from skilldelta.advisor.advisor import Advisor
from skilldelta.advisor.once import advise

__all__ = ["Advice", "Advisor", "Explanation", "Neighbor", "Policy", "Question", "ScopeChoice", "advise"]
