"""The task families of the demo suite: wording and correct answers, grouped by what their skill is worth."""
