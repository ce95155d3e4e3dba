"""The secrets of a cluster: made once, kept in a store, handed to a machine as far as its role may have them.

Everything that is generated follows a declaration of the contract (SecretDeclaration), whoever declared it:
a bootstrap engine or a provisioner. Randomness and time come in from outside, so that a dry run can use
placeholders.
"""
