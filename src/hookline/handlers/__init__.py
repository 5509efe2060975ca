"""Run external code. A handler returns facts about how it ended, never an opinion about the answer."""
