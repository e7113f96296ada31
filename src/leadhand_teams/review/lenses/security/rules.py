"""The rules on untrusted data in dangerous places."""

from leadhand_teams.review.rules import rule

SHELL = rule("security/shell-injection")
LOCAL_SHELL = rule("security/shell-unquoted")
CODE = rule("security/code-injection")
SQL = rule("security/sql-injection")
TEMPLATE = rule("security/template-injection")
LDAP = rule("security/ldap-injection")
XPATH = rule("security/xpath-injection")
NOSQL = rule("security/nosql-injection")
REGEX = rule("security/regex-injection")
HOST_PATTERN = rule("security/host-pattern")
TAG_FILTER = rule("security/html-filter")
UNPICKLE_REMOTE = rule("security/unpickle-untrusted")
XML = rule("security/xml-untrusted")
PATH = rule("security/path-traversal")
XSS = rule("security/cross-site-scripting")
REDIRECT = rule("security/open-redirect")
SSRF = rule("security/request-forgery")
URL_PART = rule("security/request-path")
HEADER = rule("security/response-header")
ERROR = rule("security/error-details")
