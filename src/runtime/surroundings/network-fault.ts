/** Why a server could not be reached: the same for PostgreSQL, Redis, identity providers and targets. */

import type { Finding } from './fault.ts'
import { findingTable } from './finding-table.ts'

/** A server as messages name it. */
export interface ServerText {
  /** `PostgreSQL`, `Redis`. */
  readonly name: string
  /** `PostgreSQL at db.example:5432`. */
  readonly at: string
  readonly host: string
  /** What to edit. */
  readonly setting: string
  /** The parameter that names a file of authorities. */
  readonly authorities: string
}

/** The codes of a certificate whose authority is unknown. */
export const UNTRUSTED =
  'DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_GET_ISSUER_CERT_LOCALLY UNABLE_TO_VERIFY_LEAF_SIGNATURE'

/** The cause for a certificate without the name of the server. */
export const OTHER_NAMES = 'the certificate of {at} is for other names than {host} ({code}{names})'

const findings = findingTable({
  ECONNREFUSED: [
    '{at} refused the connection (ECONNREFUSED)',
    'Start {name}, or correct host and port in {setting}',
  ],
  'ENOTFOUND EAI_AGAIN': [
    'the host name of {at} is unknown ({code})',
    'Correct the host in {setting}, or make the name server of this machine resolve {host}',
  ],
  'ETIMEDOUT EHOSTUNREACH ENETUNREACH': [
    '{at} cannot be reached ({code})',
    'Check that the machine of {name} runs, the network and its firewalls, and host and port in {setting}',
  ],
  'ECONNRESET EPIPE': ['{at} closed the connection ({code})', 'See the log of {name} for the reason'],
  TIMEOUT: [
    '{at} has not responded in time',
    'Check that {name} runs and is not overloaded, that no firewall drops the connection, and host and port in {setting}',
  ],
  CERT_HAS_EXPIRED: [
    'the certificate of {at} has expired (CERT_HAS_EXPIRED)',
    'Renew the certificate of {name}, and check the clock of this machine',
  ],
  CERT_NOT_YET_VALID: [
    'the certificate of {at} is not valid yet (CERT_NOT_YET_VALID)',
    'Check the clock of this machine, and the certificate',
  ],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    OTHER_NAMES,
    'Use a name of the certificate as the host in {setting}, or issue the certificate for {host}',
  ],
  [UNTRUSTED]: [
    'the certificate of {at} is not from an authority that this gateway knows ({code})',
    "Name a file with the authority's certificate as {authorities} in {setting}",
  ],
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: [
    '{at} requires a client certificate, and none is given',
    'Name certificate and key in {setting}',
  ],
})

/**
 * @param cause the error of the fault
 * @returns null for a code that is not of the network or of TLS
 */
export function networkFinding(server: ServerText, code: string, cause: unknown): Finding | null {
  return findings(code, serverValues(server, code, cause))
}

/** The values of a server for a table of findings. */
export function serverValues(server: ServerText, code: string, cause: unknown) {
  return { ...server, code, names: namesIn(cause) }
}

/** The most names that a message shows. */
const MOST_NAMES = 5

/** The names of the certificate that the error is about: text that the server has sent. */
function namesIn(cause: unknown): string {
  for (let at = cause, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const certificate = 'cert' in at ? at.cert : null
    if (typeof certificate !== 'object' || certificate === null) continue
    const text = 'subjectaltname' in certificate ? String(certificate.subjectaltname) : ''
    const names = text.split(', ').flatMap((each) => /^(?:DNS|IP Address):([\w.:*-]+)$/.exec(each)?.[1] ?? [])
    const more = names.length > MOST_NAMES ? ', …' : ''
    return names.length === 0 ? ': it has none' : `: it has ${names.slice(0, MOST_NAMES).join(', ')}${more}`
  }
  return ''
}
