"""What changes the items of a dataset there is: corrected, retired, restored, or taken back."""
