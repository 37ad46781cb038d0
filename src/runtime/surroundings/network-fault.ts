/** Why a server could not be reached: the same for PostgreSQL and Redis. */

import type { Finding } from './fault.ts'

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

/** @param cause of the fault @returns null for a code that is not of the network or of TLS */
export function networkFinding(server: ServerText, code: string, cause: unknown): Finding | null {
  return FINDINGS[code]?.(server, code, cause) ?? null
}

type Describe = (server: ServerText, code: string, cause: unknown) => Finding

/** That a certificate is for other names, and for which. */
export function otherNames(
  { at, host }: Pick<ServerText, 'at' | 'host'>,
  code: string,
  cause: unknown,
): string {
  return `the certificate of ${at} is for other names than ${host} (${code}${namesIn(cause)})`
}

/** Names that a message shows. */
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

const FINDINGS: Readonly<Record<string, Describe>> = {
  ECONNREFUSED: ({ name, at, setting }) => ({
    cause: `${at} refused the connection (ECONNREFUSED)`,
    advice: `Start ${name}, or correct host and port in ${setting}`,
  }),
  ENOTFOUND: unknownHost,
  EAI_AGAIN: unknownHost,
  ETIMEDOUT: unreachable,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ECONNRESET: closed,
  EPIPE: closed,
  TIMEOUT: ({ name, at, setting }) => ({
    cause: `${at} has not responded in time`,
    advice: `Check that ${name} runs and is not overloaded, that no firewall drops the connection, and host and port in ${setting}`,
  }),
  CERT_HAS_EXPIRED: ({ name, at }) => ({
    cause: `the certificate of ${at} has expired (CERT_HAS_EXPIRED)`,
    advice: `Renew the certificate of ${name}, and check the clock of this machine`,
  }),
  CERT_NOT_YET_VALID: ({ at }) => ({
    cause: `the certificate of ${at} is not valid yet (CERT_NOT_YET_VALID)`,
    advice: 'Check the clock of this machine, and the certificate',
  }),
  ERR_TLS_CERT_ALTNAME_INVALID: (server, code, cause) => ({
    cause: otherNames(server, code, cause),
    advice: `Use a name of the certificate as the host in ${server.setting}, or issue the certificate for ${server.host}`,
  }),
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: ({ at, setting }) => ({
    cause: `${at} requires a client certificate, and none is given`,
    advice: `Name certificate and key in ${setting}`,
  }),
}

function unknownHost({ at, host, setting }: ServerText, code: string): Finding {
  return {
    cause: `the host name of ${at} is unknown (${code})`,
    advice: `Correct the host in ${setting}, or make the name server of this machine resolve ${host}`,
  }
}

function unreachable({ name, at, setting }: ServerText, code: string): Finding {
  return {
    cause: `${at} cannot be reached (${code})`,
    advice: `Check that the machine of ${name} runs, the network and its firewalls, and host and port in ${setting}`,
  }
}

function closed({ name, at }: ServerText, code: string): Finding {
  return {
    cause: `${at} closed the connection (${code})`,
    advice: `See the log of ${name} for the reason`,
  }
}

function untrusted({ at, authorities, setting }: ServerText, code: string): Finding {
  return {
    cause: `the certificate of ${at} is not from an authority that this gateway knows (${code})`,
    advice: `Name a file with the authority's certificate as ${authorities} in ${setting}`,
  }
}
