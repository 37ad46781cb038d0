/**
 * Reads PEM files of certificates and keys. A file that is unreadable or invalid is a fault of the
 * configuration, and so is a certificate outside its validity: otherwise a peer would refuse it during the
 * first request.
 */

import type { X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { certificatesOf, PemFault, type PemUse, readPem } from '../../seats-admin/model/pem-text.ts'
import type { JsonSchema } from '../../seats-admin/model/json-schema.ts'
import { fileFault } from './file-fault.ts'
import { InvalidValue, Undetermined } from './invalid-value.ts'
import type { Value } from './positioned-document.ts'
import { schemaAt } from './schema.ts'
import type { Section } from './section.ts'
import type { Reader } from './setting.ts'

/** The maximum size of a PEM file, in bytes. */
const MAX_PEM = 1024 * 1024

/**
 * A reader of the paths of PEM files. The value is the text of the file.
 *
 * @param faultOf returns a further fault of the text, which follows the file's name; null: there is none
 */
export function pem(use: PemUse, faultOf: (pem: string) => string | null = () => null): Reader<string> {
  return (path, { folder }) => {
    const text = readPemFile(resolve(folder, path), use)
    if (text instanceof InvalidValue) return text
    const fault = faultOf(text)
    return fault === null ? text : new InvalidValue(fault)
  }
}

/**
 * Reads a PEM file. No message contains the content of the file.
 *
 * @param file an absolute path, or a path relative to the working directory
 */
export function readPemFile(file: string, use: PemUse): string | InvalidValue {
  try {
    const stat = statSync(file)
    if (!stat.isFile() || stat.size > MAX_PEM)
      return new InvalidValue('is not a regular file of at most 1 MiB: name a PEM file')
    const text = readPem(readFileSync(file, 'latin1'), use)
    return text instanceof PemFault ? new InvalidValue(text.message) : text
  } catch (cause) {
    return new Undetermined(fileFault(cause))
  }
}

/** Marks the settings that name PEM files. */
export const PEM_FILE = { title: 'file' }

/**
 * The paths of the PEM files in a map or a list, including files with faults. They are watched for a
 * correction.
 */
export function filesIn(value: Value, schema: JsonSchema): string[] {
  if (typeof value === 'string') return schema.title === PEM_FILE.title ? [value] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, each]) => filesIn(each, schemaAt(schema, [key])))
}

/** The reader of paths of files with authorities. */
export const authorities = pem('authorities', (text) => authorityTime(text, Date.now()))

/** The reader of paths of files with the gateway's own certificate. */
export const ownCertificate = pem('certificate', (text) => clientCertificateTime(text, Date.now()))

/**
 * @param pem valid PEM certificates
 * @param now ms since the epoch
 * @returns the fault of the first certificate, which belongs to the key; null: it is valid
 */
export function clientCertificateTime(pem: string, now: number): string | null {
  return timesOf(pem, now)[0] ?? null
}

/**
 * @returns the fault of the first authority if none is valid. Files of authorities often contain expired
 *   ones.
 */
export function authorityTime(pem: string, now: number): string | null {
  const faults = timesOf(pem, now)
  return faults.includes(null) ? null : (faults[0] ?? null)
}

/**
 * The time before expiry at which a certificate should be renewed, in ms, and as a maximum share of its
 * lifetime: a certificate for six days is renewed after four.
 */
const SOON = 30 * 24 * 60 * 60 * 1000
const LAST_SHARE = 1 / 3

/** The validity of a certificate, in ms since the epoch. */
export interface Validity {
  readonly from: number
  readonly until: number
}

export function validityOf({ validFrom, validTo }: Pick<X509Certificate, 'validFrom' | 'validTo'>): Validity {
  return { from: Date.parse(validFrom), until: Date.parse(validTo) }
}

/** The time after which a certificate should be renewed, in ms since the epoch. */
export function renewalOf({ from, until }: Validity): number {
  return until - Math.min(SOON, (until - from) * LAST_SHARE)
}

/**
 * The validity of the certificate in a file that must be renewed first; null: there is none. A certificate
 * needs all its intermediates. Authorities that have expired are ignored, because valid ones replace them.
 */
export function firstDue(all: readonly Validity[], areAuthorities: boolean, now: number): Validity | null {
  const valid = areAuthorities ? all.filter(({ until }) => until > now) : all
  const [first = null] = valid.toSorted((one, other) => renewalOf(one) - renewalOf(other))
  return first
}

/**
 * Warns of a certificate that expires soon.
 *
 * @param key `cert`, or the key of a file with authorities
 * @param pem valid PEM certificates; null: none
 */
export function warnOfTime(section: Section, key: string, pem: string | null): void {
  if (pem === null) return
  const now = Date.now()
  const due = firstDue(certificatesOf(pem).map(validityOf), key !== 'cert', now)
  const day = due === null ? null : soon(due, now)
  if (day !== null)
    section.warn(key, 'certificate_expires', `${key}: the certificate expires on ${day}: renew it`)
}

/**
 * The day on which a certificate expires; null: it is not due for renewal.
 *
 * @param now ms since the epoch
 */
export function soon(validity: Validity, now: number): string | null {
  return now > renewalOf(validity) ? day(validity.until) : null
}

function timesOf(pem: string, now: number): (string | null)[] {
  return certificatesOf(pem).map((each) => timeFault(each, now))
}

function timeFault({ validFrom, validTo }: X509Certificate, now: number): string | null {
  if (now > Date.parse(validTo))
    return `contains a certificate that has expired on ${day(validTo)}: renew it, or correct the clock of this machine, which shows ${new Date(now).toISOString()}`
  if (now < Date.parse(validFrom))
    return `contains a certificate that is not valid before ${day(validFrom)}: correct the clock of this machine, which shows ${new Date(now).toISOString()}, or use another certificate`
  return null
}

function day(time: string | number): string {
  return new Date(time).toISOString().slice(0, 10)
}
