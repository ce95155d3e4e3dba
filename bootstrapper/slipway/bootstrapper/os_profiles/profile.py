"""What a distribution looks like, as far as a pass or an engine has to know it.

A part that is unset is one that nobody has looked up, or that the distribution does not have: whatever needs it is
refused for that distribution, and nothing is guessed.
"""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PackageManager(StrEnum):
    """Programs that install packages."""

    APT = "apt"
    DNF = "dnf"
    YUM = "yum"
    TDNF = "tdnf"
    ZYPPER = "zypper"
    APK = "apk"


class NtpProgram(StrEnum):
    """Programs that synchronise the clock; each has a configuration language of its own."""

    CHRONY = "chrony"
    SYSTEMD_TIMESYNCD = "systemd-timesyncd"
    W32TIME = "w32time"


class CertificateTrust(_Row):
    """How the whole system comes to trust a certificate authority.

    Attributes:
        directory: where a certificate is put, one to a file.
        suffix: suffix of the file name, with the dot.
        update: program that takes the files up, with its arguments.
    """

    directory: str
    suffix: str
    update: tuple[str, ...]


class NtpClient(_Row):
    """A program that synchronises the clock.

    Attributes:
        program: which one.
        executable: path or name of the program; it is there if and only if the client is installed.
        service: its service.
        configuration: path of the file that Slipway owns.
    """

    program: NtpProgram
    executable: str
    service: str
    configuration: str = ""


class ContainerRuntime(_Row):
    """containerd.

    Attributes:
        service: its service.
        configuration: path of its configuration file.
        configuration_version: version of that file's format. 2 is what every containerd in use reads.
        registries: directory with a folder for each registry.
        environment: variables that the service needs in order to read the configuration file.
    """

    service: str
    configuration: str
    configuration_version: int = 2
    registries: str
    environment: dict[str, str] = {}


class Kubelet(_Row):
    """The kubelet.

    Attributes:
        service: its service.
        drop_in_directory: where drop-ins for the service are put; unset on Windows.
    """

    service: str
    drop_in_directory: str = ""


class TimeZones(_Row):
    """How the time zone is set.

    Attributes:
        database: directory of the tz database.
        name_file: a file that holds the zone's name besides /etc/localtime, where the distribution reads one.
    """

    database: str
    name_file: str = ""


class Accounts(_Row):
    """How users and groups are made.

    Attributes:
        programs: programs that are there, of those that make and change users and groups.
        sudo_directory: directory whose files sudo reads; unset where there is no sudo.
        administrators: group whose members administrate the machine.
        further_key_files: files below ~/.ssh beside authorized_keys from which the distribution takes keys for SSH.
    """

    programs: tuple[str, ...]
    sudo_directory: str = ""
    administrators: str
    further_key_files: tuple[str, ...] = ()


class DirectoryClient(_Row):
    """What makes a machine a member of a domain of Active Directory, by adcli and sssd.

    Attributes:
        packages: packages with adcli and ldapsearch. None: the image has them, and all of those below.
        login_packages: packages with sssd, what asks it for accounts, and what makes home directories.
        blob_packages: packages with Samba's net.
        kerberos: path of the configuration file of Kerberos that Slipway owns.
        login: programs, with their arguments, that have the system ask sssd for accounts.
    """

    packages: tuple[str, ...] = ()
    login_packages: tuple[str, ...] = ()
    blob_packages: tuple[str, ...] = ()
    kerberos: str
    login: tuple[tuple[str, ...], ...] = ()


class OsProfile(_Row):
    """One version of one distribution.

    Attributes:
        distribution: its ID in os-release.
        version: the row's version: a whole VERSION_ID or its first parts; empty for one that has no stable versions.
        read_only_usr: nothing can be written below /usr.
        image_based: packages cannot be installed.
        systemd_directory: where units are put.
        writable: folders below a read-only /usr that can be written nevertheless.
        accounts: users and groups.
        certificates: trust in certificate authorities.
        packages: the package manager.
        ntp: programs that synchronise the clock; the first that is installed is the one that runs.
        containerd: the container runtime.
        kubelet: the kubelet.
        time_zones: the time zone.
        filesystems: kinds of filesystems that the distribution has programs for, each "mkfs." and the kind, but
            mkswap for swap; sfdisk, wipefs and udevadm are there, too.
        directory: membership in a domain.
    """

    distribution: str
    version: str = ""
    read_only_usr: bool = False
    image_based: bool = False
    systemd_directory: str = ""
    writable: tuple[str, ...] = ()
    accounts: Accounts | None = None
    certificates: CertificateTrust | None = None
    packages: PackageManager | None = None
    ntp: tuple[NtpClient, ...] = ()
    containerd: ContainerRuntime | None = None
    kubelet: Kubelet | None = None
    time_zones: TimeZones | None = None
    filesystems: tuple[str, ...] = ()
    directory: DirectoryClient | None = None
