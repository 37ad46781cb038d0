/** Builds `tls:` of an upstream. The PEM files are read here, so that an unreadable or mismatched file is a fault. */

import { X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import { authorityTime, clientCertificateTime, expiresSoon } from './certificate-time.ts'
import { fileFault } from './file-fault.ts'
import { InvalidValue, Undetermined, type ValueParser } from './invalid-value.ts'
import type { UpstreamTls } from './config.ts'
import type { Section } from './section.ts'

/** Size limit of a PEM file, in bytes. */
const MAX_PEM = 1024 * 1024

/** @param folder base of relative paths @returns null when `tls` is absent */
export function buildUpstreamTls(parent: Section, folder: string): UpstreamTls | null {
  if (!parent.has('tls')) return null
  const section = parent.section('tls')
  const now = Date.now()
  const authorities = (text: string) => certificateFault(text) ?? authorityTime(text, now)
  const certificate = (text: string) => certificateFault(text) ?? clientCertificateTime(text, now)
  const built = {
    ca: section.text('ca', pem(folder, authorities)) ?? null,
    cert: section.text('cert', pem(folder, certificate)) ?? null,
    key: section.text('key', pem(folder, keyFault)) ?? null,
    serverName: section.text('server_name', hostName) ?? null,
    insecureSkipVerify: section.flag('insecure_skip_verify'),
  }
  for (const key of ['ca', 'cert'] as const) {
    const day = built[key] === null ? null : expiresSoon(built[key], now)
    if (day !== null)
      section.warn(key, 'certificate_expires', `${key}: the certificate expires on ${day}: renew it`)
  }
  if (section.has('cert') !== section.has('key'))
    section.faultAtKey(section.has('cert') ? 'cert' : 'key', 'tls: cert and key must be set together')
  const fault = tlsFault(built)
  if (fault !== null) parent.faultAtKey('tls', `tls: ${fault}`)
  return Object.freeze(built)
}

/** Reads a PEM file. No message contains its content. */
function pem(folder: string, faultOf: (text: string) => string | null): ValueParser<string> {
  return (path) => {
    try {
      const file = resolve(folder, path)
      if (!statSync(file).isFile() || statSync(file).size > MAX_PEM)
        return new InvalidValue('is not a regular file of at most 1 MiB')
      const text = readFileSync(file, 'latin1')
      const fault = faultOf(text)
      return fault === null ? text : new InvalidValue(fault)
    } catch (cause) {
      return new Undetermined(fileFault(cause))
    }
  }
}

function keyFault(pem: string): string | null {
  return /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem) ? null : 'contains no PEM private key'
}

const hostName: ValueParser<string> = (text) =>
  /^(?=.{1,253}$)[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/.test(text) && !/^[0-9.]+$/.test(text)
    ? text
    : new InvalidValue('is not a host name')

function tlsFault({ ca, cert, key }: UpstreamTls): string | null {
  try {
    createSecureContext({
      ...(ca === null ? {} : { ca }),
      ...(cert === null || key === null ? {} : { cert, key }),
    })
    return null
  } catch {
    return 'the certificates and the key cannot be parsed or do not match: name the key of this certificate, without a passphrase'
  }
}

const BEGIN = /-----BEGIN CERTIFICATE-----/g
const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/**
 * @returns the fault, worded to follow the file's name, or null. Every block is parsed, because OpenSSL silently skips
 * certificates that it can't parse.
 */
export function certificateFault(pem: string): string | null {
  const blocks = pem.match(BLOCK) ?? []
  const beginnings = pem.match(BEGIN)?.length ?? 0
  if (beginnings === 0) return 'contains no PEM certificate'
  try {
    for (const block of blocks) new X509Certificate(block)
  } catch {
    return UNREADABLE
  }
  return blocks.length === beginnings ? null : UNREADABLE
}

const UNREADABLE = 'contains a certificate that cannot be parsed'
