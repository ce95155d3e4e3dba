"""The check that the project speaks plain technical English: counts of other words may only go down."""
