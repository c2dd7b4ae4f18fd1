"""The documentation's generated part: a package, so that scripts and tests import it alike."""
