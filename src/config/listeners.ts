/**
 * Builds the addresses of all listeners: `listen:`, which is one address or a list of listeners with TLS or without, `ops:`,
 * and `decision:`. Certificates and keys are read and compared here, so that a faulty pair never serves.
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

export function buildAddresses(root: Section, folder: string) {
  const listen = buildListeners(root, folder)
  const ops = root.setting('ops', address)
  const isKnown = (key: string) => !root.has(key) || root.value(key) !== undefined
  if (isKnown('listen') && isKnown('ops') && listen.some((each) => addressesConflict(each, ops))) {
    const key = root.has('ops') ? 'ops' : 'listen'
    root.fault(key, `${key}: listen and ops cannot share an address and port: choose another port`)
  }
  if (root.value('ops') !== undefined && isEveryAddress(ops))
    root.warn(
      'ops',
      'ops_open',
      `ops: asks for no credential, and accepts connections on every address of this machine`,
    )
  return {
    /** At least one. */
    listen,
    ops,
    /** Null without a listener for questions of other proxies. */
    decision: buildDecision(root, [...listen.map((each) => ['listen', each] as const), ['ops', ops]]),
  }
}

/** @param folder base of relative paths @returns those without a fault; the default when `listen` is absent */
function buildListeners(root: Section, folder: string): readonly ListenerConfig[] {
  if (!Array.isArray(root.value('listen')))
    return Object.freeze([Object.freeze({ ...root.setting('listen', address), tls: null, http2: false })])
  const built: ListenerConfig[] = []
  for (const section of root.sections('listen')) {
    const listener = buildListener(section, folder)
    if (listener === null) continue
    if (built.some((each) => addressesConflict(each, listener)))
      section.fault('address', 'address: two listeners cannot share an address and port: choose another port')
    built.push(listener)
  }
  return Object.freeze(built)
}

type ListenerConfig = NonNullable<ReturnType<typeof buildListener>>

/** A listener of clients. @returns null where its address is faulty */
function buildListener(section: Section, folder: string) {
  const at = section.text('address', address)
  const tls = buildTls(section, folder)
  const http2 = section.flag('http2')
  if (http2 && !section.has('tls'))
    section.fault('http2', 'http2: needs tls, as HTTP/2 is negotiated by ALPN: add tls, or remove http2')
  if (at === undefined) return null
  return Object.freeze({
    ...at,
    /** Null for plain HTTP. */
    tls,
    /** HTTP/2 is offered by ALPN. Only with TLS. */
    http2,
  })
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

/**
 * `decision:`, the listener that answers other proxies whether they may forward a request.
 *
 * @param others the other listeners, with the names of their settings
 * @returns null where the section is absent or its address is faulty
 */
function buildDecision(root: Section, others: readonly (readonly [name: string, at: Address])[]) {
  if (!root.has('decision')) return null
  const section = root.section('decision')
  const listen = section.text('listen', address)
  const clients = section.has('clients')
    ? section.texts('clients', cidr)
    : (section.default('clients') as string[])
  if (clients.some(isEveryone))
    section.warn(
      'clients',
      'everyone_trusted',
      'clients: any machine can ask, and name any client in its questions: list the addresses of the proxies',
    )
  const url = section.text('url', origin)?.origin ?? null
  if (listen === undefined) return null
  const other = others.find(([, each]) => addressesConflict(each, listen))
  if (other !== undefined)
    section.fault(
      'listen',
      `listen: decision and ${other[0]} cannot share an address and port: choose another port`,
    )
  return Object.freeze({
    listen,
    /** CIDR blocks of the peers that may ask. At least one. */
    clients: Object.freeze(clients),
    /** The public origin of the listener, without a final slash; null where it is not configured. */
    url,
  })
}

/** @param folder base of relative paths @returns null when `tls` is absent */
function buildTls(parent: Section, folder: string) {
  if (!parent.has('tls')) return null
  const section = parent.section('tls')
  const now = Date.now()
  const clientAuth = section.choice<'none' | 'request' | 'require'>('client_auth')
  const clientCa = section.text('client_ca', authorities(folder, now)) ?? null
  if (clientAuth !== 'none' && !section.has('client_ca'))
    section.fault(
      'client_auth',
      `client_auth: ${clientAuth} needs client_ca: name the authorities of clients`,
    )
  if (clientCa !== null) warnOfTime(section, 'client_ca', clientCa, now)
  const minVersion = section.choice<'1.2' | '1.3'>('min_version')
  if (minVersion === '1.3' && section.has('ciphers'))
    section.fault('ciphers', 'ciphers: are for TLS 1.2, which min_version excludes: remove one of the two')
  return Object.freeze({
    /** At least one. The first one is for clients that ask for no name. */
    certificates: Object.freeze(buildCertificates(section, folder, now)),
    minVersion,
    /** Suites of TLS 1.2 by their names of OpenSSL, the preferred ones first. */
    ciphers: Object.freeze(section.setting('ciphers', cipherSuites)),
    /** A PEM text. Not null unless `clientAuth` is `none`. */
    clientCa,
    /** `request`: a presented certificate must be valid. `require`: one must be presented. */
    clientAuth,
  })
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

function cipherSuites(text: string): string[] | InvalidValue {
  const names = text.split(':')
  const unknown = names.find((name) => !SUITES.has(name))
  if (unknown !== undefined)
    return new InvalidValue(
      'has a name of no suite of TLS 1.2 that listeners have: write names of OpenSSL, with : between them',
      false,
      `; it is ${quote(unknown)}${didYouMean(unknown, SUITES)}`,
    )
  return new Set(names).size === names.length ? names : new InvalidValue('has a suite twice: remove one')
}

/** Those without a fault. Without a name, only the first can be selected. */
function buildCertificates(tls: Section, folder: string, now: number) {
  return tls.sections('certificates').flatMap((section, at) => {
    const certificate = buildCertificate(section, folder, now)
    if (certificate !== null && certificate.names.length === 0 && at > 0)
      section.fault(
        'cert',
        'cert: the certificate has no DNS name (subjectAltName), so no client could select it: put it first, or remove it',
      )
    return certificate === null ? [] : [certificate]
  })
}

function buildCertificate(section: Section, folder: string, now: number) {
  const cert = section.text('cert', ownCertificate(folder, now))
  const key = section.text('key', pem(folder, 'key'))
  if (cert === undefined || key === undefined) return null
  warnOfTime(section, 'cert', cert, now)
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
