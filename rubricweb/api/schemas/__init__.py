"""Every shape the API takes in and gives out, room by room, by the nouns of the glossary."""
