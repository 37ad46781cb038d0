/** Why a request has no answer of a gateway, and what to do next: one text for each kind of fault. */

import { printable } from '../../telemetry/readable.ts'

/** The next step if the address may be wrong. */
const GIVE_ADDRESS =
  'give the address of the gateway with --url or SEATGATE_URL, and the path of api.prefix where it has one'

interface Target {
  readonly url: URL
  /** The time limit of an answer in ms. */
  readonly timeout: number
}

interface Kind {
  readonly codes: RegExp
  /** Whether a part of the request may have reached the gateway. */
  readonly sent: boolean
  /** Whether a later attempt may succeed. */
  readonly passing: boolean
  /** What happened, and the next step: two sentences without the final full stop. */
  readonly text: (target: Target, code: string) => string
}

/** The kinds without a connection. */
const UNREACHED = { sent: false, passing: true }
/** The kinds in which TLS fails, as it would again. */
const UNTRUSTED = { sent: false, passing: false }
/** The kinds in which the gateway may have received the request. */
const UNANSWERED = { sent: true, passing: true }

/** The kinds of faults; the first that fits counts. Codes are those of Node.js, OpenSSL and undici. */
const KINDS: readonly Kind[] = [
  {
    codes: /^ECONNREFUSED$/,
    ...UNREACHED,
    text: (_, code) => `no program listens there (${code}). Start the gateway, or ${GIVE_ADDRESS}`,
  },
  {
    codes: /^(?:ENOTFOUND|EAI_\w+)$/,
    ...UNREACHED,
    text: ({ url }, code) =>
      `no address is known for the name ${url.hostname} (${code}). Look whether the name is spelled right and DNS answers, or ${GIVE_ADDRESS}`,
  },
  {
    codes: /^(?:EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL|EACCES|EPERM)$/,
    ...UNREACHED,
    text: (_, code) =>
      `the network has no way there (${code}). Look at routes, firewalls and VPN, or ${GIVE_ADDRESS}`,
  },
  {
    codes: /^(?:UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/,
    ...UNREACHED,
    text: ({ timeout }) =>
      `no connection in ${timeout} ms. Look whether a firewall is in the way, or ${GIVE_ADDRESS}; --timeout waits longer`,
  },
  {
    codes: /^(?:UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT|TimeoutError)$/,
    ...UNANSWERED,
    text: ({ timeout }) =>
      `no answer in ${timeout} ms. Look at /readyz and the log of the gateway; --timeout waits longer`,
  },
  {
    codes: /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    ...UNTRUSTED,
    text: ({ url }, code) =>
      `its certificate is not for the name ${url.hostname} (${code}). Give a name that the certificate has with --url or SEATGATE_URL`,
  },
  {
    codes: /^(?:CERT_HAS_EXPIRED|CERT_NOT_YET_VALID)$/,
    ...UNTRUSTED,
    text: (_, code) =>
      `its certificate is not valid now (${code}). Renew the certificate, or correct the clock of this machine`,
  },
  {
    codes: /CERT|^UNABLE_TO_\w+_(?:SIGNATURE|KEY)$|^INVALID_(?:CA|PURPOSE)$/,
    ...UNTRUSTED,
    text: (_, code) =>
      `its certificate is not trusted (${code}). Give the certificate of its authority with --ca FILE, or let the system trust it (NODE_EXTRA_CA_CERTS)`,
  },
  {
    codes:
      /^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|RECORD_LAYER_FAILURE|HTTP_REQUEST)$|^EPROTO$/,
    ...UNTRUSTED,
    text: ({ url }, code) =>
      `the port does not speak TLS (${code}). Where the listener has no TLS, give ${other(url)} with --url or SEATGATE_URL`,
  },
  {
    codes: /^ERR_(?:SSL|TLS)_/,
    ...UNTRUSTED,
    text: (_, code) =>
      `the TLS handshake failed (${code}). Look at the TLS settings of the listener: client certificates are not supported by this command`,
  },
  {
    codes: /^HTTPParserError$|^HPE_/,
    sent: true,
    passing: false,
    text: ({ url }) =>
      `the answer is not HTTP/1.1. ${url.protocol === 'http:' ? `Where the port is one for TLS, give ${other(url)}; else ${GIVE_ADDRESS}` : capital(GIVE_ADDRESS)}`,
  },
  {
    codes: /^(?:UND_ERR_SOCKET|ECONNRESET|EPIPE|ECONNABORTED)$/,
    ...UNANSWERED,
    text: ({ url }, code) =>
      `the connection ended without an answer (${code}). ${url.protocol === 'http:' ? `Where the port is one for TLS, give ${other(url)} with --url or SEATGATE_URL; else look` : 'Look'} at the log of the gateway and of what is in front of it`,
  },
]

/** The text for a fault of the network. @param cause an exception of undici */
export function networkFault(cause: unknown, target: Target) {
  const code = faultCode(cause)
  const kind = KINDS.find(({ codes }) => codes.test(code))
  if (kind !== undefined) return { text: kind.text(target, code), sent: kind.sent, passing: kind.passing }
  const message = cause instanceof Error ? cause.message : String(cause)
  const text = `${printable(message || code)}. Look at the address in --url or SEATGATE_URL`
  return { text, ...UNANSWERED }
}

/** The text for an answer that does not come from a gateway. @param location the header of a redirection */
export function strangeAnswer(status: number, location: unknown, url: URL): string {
  return `the answer has status ${status}. ${stepAfter(status, location, url)}`
}

function stepAfter(status: number, location: unknown, url: URL): string {
  if (status >= 300 && status < 400) {
    const target =
      typeof location === 'string' && URL.canParse(location, url.href) ? new URL(location, url).origin : null
    const where = target === null || target === url.origin ? 'elsewhere' : printable(target)
    return `It leads to ${where}, which is not followed, so that the API key goes to no other place: ${GIVE_ADDRESS}`
  }
  if (status >= 502 && status <= 504)
    return 'A proxy answers in place of the gateway: look whether the gateway runs, and whether the proxy reaches it'
  if (status === 400 && url.protocol === 'http:')
    return `Where the port is one for TLS, give ${other(url)}; else ${GIVE_ADDRESS}`
  return `Another program answers there: ${GIVE_ADDRESS}`
}

/** The same address with the other scheme. */
function other({ protocol, host }: URL): string {
  return `${protocol === 'http:' ? 'https:' : 'http:'}//${host}`
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

/** The code of Node.js, OpenSSL or undici, or else the name of the exception; '' without either. */
export function faultCode(cause: unknown): string {
  if (!(cause instanceof Error)) return ''
  const inner = cause instanceof AggregateError ? cause.errors[0] : cause
  const code: unknown = inner instanceof Error && 'code' in inner ? inner.code : undefined
  return typeof code === 'string' ? code : cause.name
}
