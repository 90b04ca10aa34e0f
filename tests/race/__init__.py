"""Eight machines tick against one remote state while everything goes wrong that can."""
