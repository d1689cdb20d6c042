"""What sessions and agents know together: projects, requests, tasks, actions, messages, claims."""
