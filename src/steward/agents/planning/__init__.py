"""What a planner works with: facts about data, the task, the prompt, and how an answer is read."""
