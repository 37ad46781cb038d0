/**
 * `tls:` of an upstream: PEM files, read here, so that what can't be read or doesn't fit together is a fault.
 */

import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import { certificateFault } from './certificates.ts'
import { InvalidValue, type Read } from './invalid-value.ts'
import type { UpstreamTls } from './config.ts'
import type { Section } from './section.ts'

/** Bytes. */
const MAX_PEM = 1024 * 1024

/** Null where it is left out. @param folder what relative paths are relative to */
export function buildUpstreamTls(parent: Section, folder: string): UpstreamTls | null {
  if (!parent.has('tls')) return null
  const section = parent.section('tls')
  const certificate = certificates(pem(folder, /-----BEGIN CERTIFICATE-----/, 'certificate'))
  const built = {
    ca: section.text('ca', certificate) ?? null,
    cert: section.text('cert', certificate) ?? null,
    key: section.text('key', pem(folder, /-----BEGIN [A-Z ]*PRIVATE KEY-----/, 'private key')) ?? null,
    serverName: section.text('server_name', hostName) ?? null,
    insecureSkipVerify: section.flag('insecure_skip_verify'),
  }
  if (section.has('cert') !== section.has('key'))
    section.faultOfKey(section.has('cert') ? 'cert' : 'key', 'tls: cert and key go together')
  const wrong = fitting(built)
  if (wrong !== null) parent.faultOfKey('tls', `tls: ${wrong}`)
  return Object.freeze(built)
}

/** The text of a PEM file. Its content is never shown. */
function pem(folder: string, begins: RegExp, what: string): Read<string> {
  return (path) => {
    try {
      const file = resolve(folder, path)
      if (!statSync(file).isFile() || statSync(file).size > MAX_PEM) return new InvalidValue('is no PEM file')
      const text = readFileSync(file, 'latin1')
      return begins.test(text) ? text : new InvalidValue(`holds no ${what} in PEM`)
    } catch (cause) {
      const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unreadable'
      return new InvalidValue(`can't be read: ${code}`)
    }
  }
}

function certificates(read: Read<string>): Read<string> {
  return (path) => {
    const text = read(path)
    if (text instanceof InvalidValue) return text
    const fault = certificateFault(text)
    return fault === null ? text : new InvalidValue(fault)
  }
}

const hostName: Read<string> = (text) =>
  /^(?=.{1,253}$)[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/.test(text) && !/^[0-9.]+$/.test(text)
    ? text
    : new InvalidValue('is not a host name')

function fitting({ ca, cert, key }: UpstreamTls): string | null {
  try {
    createSecureContext({
      ...(ca === null ? {} : { ca }),
      ...(cert === null || key === null ? {} : { cert, key }),
    })
    return null
  } catch {
    return 'its certificates and key can not be read, or do not belong together'
  }
}
