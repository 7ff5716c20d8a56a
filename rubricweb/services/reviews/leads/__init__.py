"""What a lead decides about one rater's work: who goes on after gold items, which reviews go back."""
