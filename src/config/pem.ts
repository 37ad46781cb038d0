/** Reads PEM files of certificates and keys, so that an unreadable or faulty one is a fault of the configuration. */

import { X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileFault } from './file-fault.ts'
import { InvalidValue, Undetermined, type ValueParser } from './invalid-value.ts'

/** Size limit of a PEM file, in bytes. */
const MAX_PEM = 1024 * 1024

/**
 * A parser of the paths of PEM files. No message contains the content of a file.
 *
 * @param folder base of relative paths
 * @param faultOf returns the fault of the text, worded to follow the file's name
 */
export function pem(folder: string, faultOf: (text: string) => string | null): ValueParser<string> {
  return (path) => {
    try {
      const file = resolve(folder, path)
      if (!statSync(file).isFile() || statSync(file).size > MAX_PEM)
        return new InvalidValue('is not a regular file of at most 1 MiB: name a PEM file')
      const text = readFileSync(file, 'latin1')
      const fault = faultOf(text)
      return fault === null ? text : new InvalidValue(fault)
    } catch (cause) {
      return new Undetermined(fileFault(cause))
    }
  }
}

/** @returns the fault, worded to follow the file's name, or null */
export function keyFault(pem: string): string | null {
  return /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)
    ? null
    : 'contains no PEM private key: name a file that has -----BEGIN PRIVATE KEY-----'
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
  if (beginnings === 0) return 'contains no PEM certificate: name a file that has -----BEGIN CERTIFICATE-----'
  try {
    for (const block of blocks) new X509Certificate(block)
  } catch {
    return UNREADABLE
  }
  return blocks.length === beginnings ? null : UNREADABLE
}

const UNREADABLE = 'contains a certificate that cannot be parsed: issue it anew, or correct the file'
