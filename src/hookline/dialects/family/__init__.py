"""What agents with hooks in the shape of Claude Code's have in common.

A dialect of this family subclasses `settings.FileReader` and `settings.EntryReader`, `results.ResultReader`,
`answers.AnswerReader` and `answers.AnswerWriter`, fills in the tables, and overrides what its agent does differently.
"""
