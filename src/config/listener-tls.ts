/**
 * `tls:` of a listener. The builder reads certificates and keys and compares them: a pair with a fault never
 * serves.
 */

import { X509Certificate } from 'node:crypto'
import { createSecureContext, getCiphers } from 'node:tls'
import { isPair } from '../../seats-admin/model/pem-text.ts'
import { didYouMean, InvalidValue, quote } from './invalid-value.ts'
import { authorities, ownCertificate, pem, PEM_FILE, warnOfTime } from './pem.ts'
import type { Section } from './section.ts'
import { choice, listOf, map, required, text, type ValuesOf } from './setting.ts'

const certificate = map(
  '',
  {
    cert: required(
      text('PEM file with the certificate and its intermediates, relative to this file.', ownCertificate, {
        ...PEM_FILE,
        examples: ['tls/api.pem'],
      }),
    ),
    key: required(
      text('PEM file with the private key of the certificate, without a passphrase.', pem('key'), {
        ...PEM_FILE,
        examples: ['tls/api.key'],
      }),
    ),
  },
  buildCertificate,
)

const tlsFields = {
  certificates: required(
    listOf(
      certificate,
      'The certificates. The name that a client requests (SNI) selects the first certificate that contains it. A client that requests no name gets the first certificate in the list; an unknown name is refused. A reload picks up changed files.',
      { minItems: 1 },
    ),
  ),
  minVersion: choice('The oldest TLS version to accept.', ['1.2', '1.3'], {
    default: '1.2',
    examples: ['1.3'],
  }),
  ciphers: text(
    'Suites of TLS 1.2 by their names of OpenSSL, with : between them, the preferred ones first. By default, those with ECDHE and an AEAD: forward secrecy, and no CBC. Others are for clients that have none of these. The suites of TLS 1.3 are always offered.',
    cipherSuites,
    {
      default:
        'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305',
      examples: ['ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-SHA256'],
    },
  ),
  clientCa: text(
    'PEM file with the authorities of client certificates, relative to this file. Each is trusted by itself: an issuing authority needs no root beside it, and with its root all other clients of that root are accepted too.',
    authorities,
    { ...PEM_FILE, examples: ['tls/clients.pem'] },
  ),
  clientAuth: choice(
    'Whether clients need certificates: none does not request one, request accepts connections without one but verifies one that is presented, and require refuses connections without one. The last two need client_ca, and turn off session resumption.',
    ['none', 'request', 'require'],
    { default: 'none', examples: ['require'] },
  ),
}

export const listenerTls = map(
  'TLS for this listener; see tls.md. Without it, the listener speaks plain HTTP.',
  tlsFields,
  buildTls,
)

function buildTls(values: ValuesOf<typeof tlsFields>, section: Section) {
  const { certificates, minVersion, clientAuth, clientCa } = values
  // SNI selects by name: a certificate without one serves only as the first.
  for (const [at, each] of certificates.entries())
    if (each !== null && each.names.length === 0 && at > 0)
      section
        .sections('certificates')
        [at]?.fault(
          'cert',
          'cert: the certificate has no DNS name (subjectAltName), so no client could select it: put it first, or remove it',
        )
  if (clientAuth !== 'none' && !section.has('client_ca'))
    section.fault(
      'client_auth',
      `client_auth: ${clientAuth} needs client_ca: name the authorities of clients`,
    )
  warnOfTime(section, 'client_ca', clientCa)
  if (minVersion === '1.3' && section.has('ciphers'))
    section.fault('ciphers', 'ciphers: are for TLS 1.2, which min_version excludes: remove one of the two')
  return Object.freeze({ ...values, certificates: Object.freeze(certificates.flatMap((each) => each ?? [])) })
}

/**
 * The suites that authenticate with a certificate and need no Diffie-Hellman parameters. Keywords of OpenSSL
 * are not accepted, because they stand for other suites in other versions; unknown names are refused, because
 * OpenSSL ignores them.
 */
const SUITES = new Set(
  getCiphers()
    .map((name) => name.toUpperCase())
    .filter((name) => /^(?:ECDHE-(?:ECDSA|RSA)|AES\d+)-/.test(name)),
)

function cipherSuites(text: string): readonly string[] | InvalidValue {
  const names = text.split(':')
  const unknown = names.find((name) => !SUITES.has(name))
  if (unknown !== undefined)
    return new InvalidValue(
      'has a name of no suite of TLS 1.2 that listeners have: write names of OpenSSL, with : between them',
      false,
      `; it is ${quote(unknown)}${didYouMean(unknown, SUITES)}`,
    )
  return new Set(names).size === names.length
    ? Object.freeze(names)
    : new InvalidValue('has a suite twice: remove one')
}

/** @returns null for a pair with a fault */
function buildCertificate(
  { cert, key }: { readonly cert: string | null; readonly key: string | null },
  section: Section,
) {
  if (cert === null || key === null) return null
  warnOfTime(section, 'cert', cert)
  const fault = pairFault(cert, key)
  if (fault !== null) section.fault('key', `key: ${fault}`)
  if (fault !== null) return null
  return Object.freeze({
    /** The PEM text of the certificate, followed by its intermediates. */
    cert,
    key,
    /**
     * The DNS names of the certificate in lower case, without a final dot; `*.` may stand for the first
     * label.
     */
    names: Object.freeze(dnsNames(cert)),
  })
}

/** @returns a text that follows the key's name and contains no secret; null: the pair is valid */
function pairFault(cert: string, key: string): string | null {
  if (!isPair(cert, key))
    return 'does not match the certificate: name the key of the first certificate in the file of cert'
  try {
    createSecureContext({ cert, key })
    return null
  } catch {
    return 'is refused by TLS together with its certificate, perhaps because it is too short: issue a new one'
  }
}

const NAME = /^(?:\*\.)?(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/

/**
 * The DNS names in subjectAltName of the first certificate (RFC 6125, section 6.4). The common name is not
 * used.
 */
function dnsNames(cert: string): string[] {
  const { subjectAltName = '' } = new X509Certificate(cert)
  const names = subjectAltName
    .split(', ')
    .filter((each) => each.startsWith('DNS:'))
    .map((each) => each.slice('DNS:'.length).toLowerCase().replace(/\.$/, ''))
  return [...new Set(names.filter((name) => NAME.test(name)))]
}
