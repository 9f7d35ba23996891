"""What people read, as lines of a terminal or as Markdown: pure, and steering nothing."""
