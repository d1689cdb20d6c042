"""The tree of shared work: projects, sessions, requests, tasks, subtasks, actions; and readings and
events.
"""
