"""users[] and what becomes of the image's own user; the same account means the same on every system."""

from slipway.bootstrapper.assembly.accounts import IMAGES_OWN_USER
from slipway.bootstrapper.importers.kubeadm_config.os_items import User
from slipway.bootstrapper.importers.mapping.context import CLOUD_CONFIG, IGNITION, Context
from slipway.bootstrapper.importers.mapping.place import Place
from slipway.bootstrapper.importers.mapping.raw_items import NO_RULE, keep_repeated_user, keep_user
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb

_REPEATED = "another entry has the same name: write what both say into one entry"
_IGNITION_LOCKS = {
    True: ("LOCK_HONOURED", "today's ignition output leaves the password usable; here it is locked"),
    False: ("SSH_LEFT_ALONE", "today's ignition output replaces sshd_config to let it in; here that is left alone"),
}


def set_accounts(context: Context, place: Place, users: list[User], spec: specpb.MachineBootstrapSpec) -> list[str]:
    """Carry over users; give the features that may be left out where a system does not have them."""
    os = spec.os
    own = [user for user in users if user.name == IMAGES_OWN_USER and context.format == CLOUD_CONFIG]
    named: set[str] = set()
    for index, user in enumerate(users):
        here, is_bare = place.at(index), user in own and user.model_fields_set == {"name"}
        if not is_bare and user.name in named:
            if not keep_repeated_user(context, here, user, spec):
                context.findings.refuse(here.at("name"), _REPEATED)
        elif not is_bare and not keep_user(context, here, user, spec):
            os.users.append(_user(context, here, user))
        if not is_bare:
            named.add(user.name)
    # Today's renderer gives no machine an account that has ended: where a system cannot, the machine is not refused.
    ended = ["os.users.inactive"] if any(user.inactive for user in os.users) else []
    if not users or context.format != CLOUD_CONFIG:
        return ended
    if own:
        return [*_keep_own(context, place, os), *ended]
    # cloud-init takes a list of users for the whole list: the image's own user is not made.
    os.default_user = ospb.DEFAULT_USER_OMIT
    message = (
        "where users are named cloud-init does not create the image's own user, and so it is here, as today; every "
        "other format leaves the image's own user as it is"
    )
    context.findings.warn(place, "DEFAULT_USER_OMITTED", message)
    return ["os.default_user", "os.default_user.omit", *ended]


def _keep_own(context: Context, place: Place, os: ospb.OperatingSystem) -> list[str]:
    """Keep the image's own user, which cloud-init means by the name; what is said of it stays with the name."""
    os.default_user = ospb.DEFAULT_USER_KEEP
    if any(user.name == IMAGES_OWN_USER for user in os.users):
        message = (
            "cloud-init means the image's own user by this name and lets it use sudo, as today; every other format "
            "makes an account of this name"
        )
        context.findings.warn(place, "DEFAULT_USER_NAMED", message)
    return ["os.default_user"]


def _user(context: Context, place: Place, user: User) -> ospb.User:
    item = ospb.User(name=context.plain(place.at("name"), user.name), origin=place.origin())
    texts = (
        ("gecos", "gecos", user.gecos),
        ("home", "homeDir", user.home_dir),
        ("shell", "shell", user.shell),
        ("primary_group", "primaryGroup", user.primary_group),
    )
    for name, key, text in texts:
        if text:
            setattr(item, name, context.plain(place.at(key), text))
    if user.groups:
        groups = context.plain(place.at("groups"), user.groups)
        item.groups.extend(name.strip() for name in groups.split(",") if name.strip())
    if user.sudo and user.sudo.lower() not in NO_RULE:
        item.sudo.append(context.plain(place.at("sudo"), user.sudo))
    for index, key in enumerate(user.ssh_authorized_keys):
        if not key.strip():
            # Templates default the variable of an optional key to nothing.
            context.findings.inform(place.at("sshAuthorizedKeys", index), "EMPTY_KEY", "an empty key is left out")
            continue
        item.ssh_authorized_keys.append(context.plain(place.at("sshAuthorizedKeys", index), key))
    if user.inactive:
        item.inactive = True
    if user.lock_password is not None:
        item.lock_password = user.lock_password
    _set_password(context, place, user, item)
    if context.format == IGNITION and user.lock_password is not None and item.HasField("password_hash"):
        code, message = _IGNITION_LOCKS[user.lock_password]
        context.findings.warn(place.at("lockPassword"), code, message)
    return item


def _set_password(context: Context, place: Place, user: User, item: ospb.User) -> None:
    if user.passwd_from is not None:
        secret = user.passwd_from.secret
        item.password_hash.secret_ref.CopyFrom(secretpb.SecretReference(name=secret.name, key=secret.key))
    elif user.passwd:
        item.password_hash.value = context.plain(place.at("passwd"), user.passwd)
    if context.format == IGNITION and user.lock_password is None and item.HasField("password_hash"):
        # Today's ignition output knows no lock: the hash is written as it stands, and the password can be used.
        item.lock_password = False
