"""How a judge is asked, whoever it is and wherever it answers."""
