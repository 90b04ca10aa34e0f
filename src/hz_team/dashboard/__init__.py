"""The pages people see and answer on: rows ⇄ Markdown, without touching the world."""
