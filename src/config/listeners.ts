/**
 * The addresses of all listeners: `listen:`, which is one address or a list of listeners with TLS or without, `ops:`, and
 * `decision:`. Certificates and keys are read and compared here, so that a faulty pair never serves.
 */

import { X509Certificate } from 'node:crypto'
import { resolve } from 'node:path'
import { createSecureContext, getCiphers } from 'node:tls'
import { isPair } from '../../seats-admin/model/pem-text.ts'
import {
  type Address,
  address,
  addressesConflict,
  cidr,
  isEveryAddress,
  isEveryone,
  origin,
} from './addresses.ts'
import { didYouMean, InvalidValue, quote } from './invalid-value.ts'
import { authorities, ownCertificate, pem, warnOfTime } from './pem.ts'
import type { Section, SettingSource } from './section.ts'
import {
  choice,
  flag,
  list,
  listOf,
  map,
  optional,
  required,
  setting,
  text,
  type ValuesOf,
} from './setting.ts'

const ADDRESS = { title: 'address', pattern: '^.+:[0-9]{1,5}$' }

const certificate = map(
  '',
  {
    cert: required(
      text('PEM file with the certificate and its intermediates, relative to this file.', ownCertificate, {
        examples: ['tls/api.pem'],
      }),
    ),
    key: required(
      text('PEM file with the private key of the certificate, without a passphrase.', pem('key'), {
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
  minVersion: choice(['1.2', '1.3'], 'The oldest TLS version to accept.', {
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
    { examples: ['tls/clients.pem'] },
  ),
  clientAuth: choice(
    ['none', 'request', 'require'],
    'Whether clients need certificates: none does not request one, request accepts connections without one but verifies one that is presented, and require refuses connections without one. The last two need client_ca, and turn off session resumption.',
    { default: 'none', examples: ['require'] },
  ),
}

const tls = map(
  'TLS for this listener; see tls.md. Without it, the listener speaks plain HTTP.',
  tlsFields,
  buildTls,
)

const listener = map(
  '',
  {
    address: required(text('Address of this listener.', address, { ...ADDRESS, examples: ['0.0.0.0:8443'] })),
    tls: optional(tls),
    http2: flag('Offer HTTP/2 by ALPN, in addition to HTTP/1.1. Requires tls.'),
  },
  (values, section) => {
    if (values.http2 && !section.has('tls'))
      section.fault('http2', 'http2: needs tls, as HTTP/2 is negotiated by ALPN: add tls, or remove http2')
    return values.address === null
      ? null
      : Object.freeze({ ...values.address, tls: values.tls, http2: values.http2 })
  },
)

export type ListenerConfig = NonNullable<ReturnType<typeof listener.of>>

const single = text(
  'Address of the public listener, which serves proxied routes, the Seat and API key endpoints, and sign-in. Port 0 picks a free port. A list configures several listeners. Changing an address, or switching between plain HTTP and TLS, requires a restart.',
  address,
  { default: '0.0.0.0:8080', examples: ['[::]:8080'] },
)

/** At least one listener, unless each has a fault. */
export const listen = setting(
  { ...single.schema, type: ['string', 'array'], minItems: 1, items: listener.schema },
  (root, key): readonly ListenerConfig[] => {
    if (!Array.isArray(root.value(key)))
      return Object.freeze([Object.freeze({ ...single.read(root, key), tls: null, http2: false })])
    const built: ListenerConfig[] = []
    for (const section of root.sections(key)) {
      const each = listener.of(section)
      if (each === null) continue
      if (built.some((other) => addressesConflict(other, each)))
        section.fault(
          'address',
          'address: two listeners cannot share an address and port: choose another port',
        )
      built.push(each)
    }
    return Object.freeze(built)
  },
)

export const ops = text(
  "Address of the operators' listener, which serves /livez, /readyz and /metrics. It requires no credential, so keep it on an internal network.",
  address,
  { ...ADDRESS, default: '127.0.0.1:9090', examples: ['0.0.0.0:9090'] },
)

/** The listener that tells other proxies whether they may forward a request. Null: it is absent, or its address is faulty. */
export const decision = optional(
  map(
    'A listener that tells other proxies (nginx, Caddy, Traefik, HAProxy, Envoy) whether they may forward a request. Without this key, there is none. Adding it, removing it or changing its address requires a restart.',
    {
      listen: required(
        text(
          'Address of the decision listener. It answers every address in clients, so keep it on an internal network. It accepts HTTP/1.1, and HTTP/2 with prior knowledge.',
          address,
          { ...ADDRESS, examples: ['127.0.0.1:9191'] },
        ),
      ),
      clients: list(
        'Addresses and CIDR blocks of the proxies that may request decisions. Their X-Forwarded-For identifies the client. Other peers get 403. By default, only this machine may connect.',
        cidr,
        { minItems: 1, default: ['127.0.0.0/8', '::1'], items: { examples: ['10.0.0.0/8'] } },
      ),
      url: text(
        'The origin at which others reach this listener, for example through a load balancer with TLS. Documents that describe the listener contain it.',
        origin,
        { examples: ['https://decisions.internal'] },
      ),
    },
    ({ listen, clients, url }, section) => {
      if (clients.some(isEveryone))
        section.warn(
          'clients',
          'everyone_trusted',
          'clients: any machine can ask, and name any client in its questions: list the addresses of the proxies',
        )
      // The origin has no final slash.
      return listen === null ? null : Object.freeze({ listen, clients, url: url?.origin ?? null })
    },
  ),
)

interface Addresses {
  readonly listen: readonly ListenerConfig[]
  readonly ops: Address
  readonly decision: ReturnType<typeof decision.read>
}

/** Two listeners cannot share an address and port. */
export function checkAddresses({ listen, ops, decision }: Addresses, root: Section): void {
  const isValid = (key: string) => !root.has(key) || root.value(key) !== undefined
  if (isValid('listen') && isValid('ops') && listen.some((each) => addressesConflict(each, ops))) {
    const key = root.has('ops') ? 'ops' : 'listen'
    root.fault(key, `${key}: listen and ops cannot share an address and port: choose another port`)
  }
  if (root.value('ops') !== undefined && isEveryAddress(ops))
    root.warn(
      'ops',
      'ops_open',
      `ops: asks for no credential, and accepts connections on every address of this machine`,
    )
  if (decision === null) return
  const others = [...listen.map((each) => ['listen', each] as const), ['ops', ops] as const]
  const other = others.find(([, each]) => addressesConflict(each, decision.listen))
  if (other !== undefined)
    root
      .section('decision')
      .fault(
        'listen',
        `listen: decision and ${other[0]} cannot share an address and port: choose another port`,
      )
}

/** Where the addresses of the listeners are written. */
export function sourcesOfListeners(root: Section): readonly SettingSource[] {
  if (!Array.isArray(root.value('listen'))) return Object.freeze([root.source('listen')])
  const sections = root.sections('listen').filter((section) => section.has('address'))
  return Object.freeze(sections.map((section) => section.source('address')))
}

/** Absolute paths of all PEM files of listeners, whether they are faulty or not: for watching. */
export function listenerFiles(root: Section, folder: string): string[] {
  const of = root.sections('listen').map((each) => each.section('tls'))
  const pairs = of.flatMap((tls) => tls.sections('certificates'))
  const named = [
    ...pairs.flatMap((section) => [section.value('cert'), section.value('key')]),
    ...of.map((tls) => tls.value('client_ca')),
  ]
  return named.filter((path) => typeof path === 'string').map((path) => resolve(folder, path))
}

function buildTls(values: ValuesOf<typeof tlsFields>, section: Section) {
  const { certificates, minVersion, clientAuth, clientCa } = values
  // Without a name, only the first can be selected.
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
 * Suites that authenticate by a certificate, without parameters of Diffie-Hellman in a file. OpenSSL skips names that it does
 * not know, and its keywords mean other suites in other versions.
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

/** Null: it has a fault. */
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
    /** PEM text: the certificate, then its intermediates. */
    cert,
    key,
    /** DNS names of the certificate in lower case, without a final dot; `*.` may stand for the first label. */
    names: Object.freeze(dnsNames(cert)),
  })
}

/** @returns a sentence without a secret, or null */
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

/** DNS names among the alternative names of the first certificate (RFC 6125, section 6.4; the common name is not used). */
function dnsNames(cert: string): string[] {
  const { subjectAltName = '' } = new X509Certificate(cert)
  const names = subjectAltName
    .split(', ')
    .filter((each) => each.startsWith('DNS:'))
    .map((each) => each.slice('DNS:'.length).toLowerCase().replace(/\.$/, ''))
  return [...new Set(names.filter((name) => NAME.test(name)))]
}
