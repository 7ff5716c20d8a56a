"""Cases: what was asked, with every answer to it, by the API."""
