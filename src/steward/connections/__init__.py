"""Connections to the world outside: documents that name them, kinds, checks; HTTP that cannot be turned inwards, mail."""

from typing import TYPE_CHECKING

from steward.connections.addresses import Address, Allowed, resolve_by_system, resolve_checked
from steward.connections.catalogue import packages
from steward.connections.catalogue.calls import MOST_PAGES, ServiceAnswer
from steward.connections.catalogue.conversion import convert_packaged, convert_text
from steward.connections.catalogue.fetching import fetch_description
from steward.connections.catalogue.graphql_calls import SELECTION
from steward.connections.catalogue.installed import PACKAGE, Choice, InstalledService
from steward.connections.catalogue.names import OPERATION_NAME, SERVICE_NAME
from steward.connections.catalogue.record import READ, Adapter, Operation, Service
from steward.connections.catalogue.settings import ServiceSettings
from steward.connections.catalogue.shelf import Found
from steward.connections.catalogue.texts import MOST_DESCRIPTION_BYTES
from steward.connections.client_certificate import ClientCertificate
from steward.connections.connector import (
    CONNECTORS,
    Connector,
    DatabasePlace,
    SecretField,
    Surroundings,
    Use,
    load_connectors,
)
from steward.connections.desk import Desk
from steward.connections.documents import Connection, Draft, parse_settings
from steward.connections.folders import Folders
from steward.connections.health import Check, Opened
from steward.connections.hosts import HostPatterns, Place, place_of
from steward.connections.http import Http, HttpAnswer, HttpLimits
from steward.connections.keepers import Keepers
from steward.connections.mail import Attachment, Letter, Mailer, MailServer, no_password
from steward.connections.mailbox import Folder, Mailbox, Stored
from steward.connections.network import NetworkPolicies, NetworkPolicy
from steward.connections.received_mail import (
    MOST_MAIL_BYTES,
    ReceivedFile,
    ReceivedMail,
    read_head,
    read_mail,
)
from steward.connections.secret_managers import SecretManagers
from steward.connections.sftp import SftpServer, SftpSession
from steward.connections.sign_in_sessions import Status
from steward.connections.syslog import Syslog, SyslogMessage, SyslogServer
from steward.connections.tls import NamedTls
from steward.connections.tools import ServerTool
from steward.connections.types import s3
from steward.connections.types.http_api import HttpApiSettings, headers
from steward.connections.types.imap import open_mailbox
from steward.connections.types.kafka import SignIn as KafkaSignIn
from steward.connections.types.kafka import kafka_options, kafka_tls, require_kafka
from steward.connections.types.s3 import S3Settings, fetch, list_objects
from steward.connections.types.sftp import SftpSettings, sftp_server
from steward.connections.web_push import WebPush
from steward.connections.webhook_schemes import SCHEMES
from steward.connections.webhooks import sign, signing_key
from steward.core.lazy_doors import lazily

if TYPE_CHECKING:
    from steward.connections.health import without_secrets

__all__ = [
    "CONNECTORS",
    "MOST_DESCRIPTION_BYTES",
    "MOST_MAIL_BYTES",
    "MOST_PAGES",
    "OPERATION_NAME",
    "PACKAGE",
    "READ",
    "SCHEMES",
    "SELECTION",
    "SERVICE_NAME",
    "Adapter",
    "Address",
    "Allowed",
    "Attachment",
    "Check",
    "Choice",
    "ClientCertificate",
    "Connection",
    "Connector",
    "DatabasePlace",
    "Desk",
    "Draft",
    "Folder",
    "Folders",
    "Found",
    "HostPatterns",
    "Http",
    "HttpAnswer",
    "HttpApiSettings",
    "HttpLimits",
    "InstalledService",
    "KafkaSignIn",
    "Keepers",
    "Letter",
    "MailServer",
    "Mailbox",
    "Mailer",
    "NamedTls",
    "NetworkPolicies",
    "NetworkPolicy",
    "Opened",
    "Operation",
    "Place",
    "ReceivedFile",
    "ReceivedMail",
    "S3Settings",
    "SecretField",
    "SecretManagers",
    "ServerTool",
    "Service",
    "ServiceAnswer",
    "ServiceSettings",
    "SftpServer",
    "SftpSession",
    "SftpSettings",
    "Status",
    "Stored",
    "Surroundings",
    "Syslog",
    "SyslogMessage",
    "SyslogServer",
    "Use",
    "WebPush",
    "convert_packaged",
    "convert_text",
    "fetch",
    "fetch_description",
    "headers",
    "kafka_options",
    "kafka_tls",
    "list_objects",
    "load_connectors",
    "no_password",
    "open_mailbox",
    "packages",
    "parse_settings",
    "place_of",
    "read_head",
    "read_mail",
    "require_kafka",
    "resolve_by_system",
    "resolve_checked",
    "s3",
    "sftp_server",
    "sign",
    "signing_key",
    "without_secrets",
]

__getattr__ = lazily(__name__)
