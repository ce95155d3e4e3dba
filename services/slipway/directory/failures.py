"""What the management of computer accounts refuses, and what can fail; each with a reason that programs can rely on.

DirectoryError
├── ConfigurationInvalid   a setting, a name or an organisational unit cannot be used
├── ServerUnavailable      no connection that can be trusted: name, network, TLS, certificate
├── LoginFailed            the domain refuses name or password
├── AdministratorRefused   the account could do far more than create computers
├── ComputerRefused        a computer object of that name is not ours, or not this machine's
├── ComputerExists         the machine has its object already
├── PermissionMissing      the account lacks a right
└── RequestFailed          the domain, or Samba's program, refuses for another reason

No message holds a password, nor a text of the server, which may repeat what it was sent.
"""


class DirectoryError(Exception):
    """Base of them all; `reason` is stable."""

    reason = "DirectoryError"


class ConfigurationInvalid(DirectoryError):  # noqa: N818  # the names are reasons
    """A setting, a name or an organisational unit cannot be used."""

    reason = "InvalidConfiguration"


class ServerUnavailable(DirectoryError):  # noqa: N818  # named as the errors of the contract are
    """There is no connection to the domain controller that can be trusted."""

    reason = "ServerUnavailable"


class LoginFailed(DirectoryError):  # noqa: N818  # named as the errors of the contract are
    """The domain refuses the account's name or password."""

    reason = "LoginFailed"


class AdministratorRefused(DirectoryError):  # noqa: N818  # named as the errors of the contract are
    """The account is an administrator, or it cannot be seen that it is not."""

    reason = "AdministratorRefused"


class ComputerRefused(DirectoryError):  # noqa: N818  # named as the errors of the contract are
    """There is a computer object of that name, and it belongs to something else."""

    reason = "ComputerNotOwned"


class ComputerExists(DirectoryError):  # noqa: N818  # named as the errors of the contract are
    """The machine has its computer object already."""

    reason = "ComputerExists"


class PermissionMissing(DirectoryError):  # noqa: N818  # named as the errors of the contract are
    """The account lacks a right in the organisational unit."""

    reason = "PermissionMissing"


class RequestFailed(DirectoryError):  # noqa: N818  # named as the errors of the contract are
    """The domain did not do what it was asked for."""

    reason = "RequestFailed"
