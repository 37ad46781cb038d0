/**
 * Reads PEM (RFC 7468) whole or not at all, for everything that hands certificates and keys to TLS. OpenSSL
 * skips without a word what it cannot read: blocks that are joined without a line end, or that follow a byte
 * order mark. So it gets no text as a file has it, but the blocks of this reader, written again.
 */

import { createPrivateKey, X509Certificate } from 'node:crypto'

/**
 * Authorities, whose file holds nothing else; our own certificate with its intermediates; one private key.
 */
export type PemUse = 'authorities' | 'certificate' | 'key'

/** Why a text is refused, worded to follow the file's name. It has nothing of the content. */
export class PemFault {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

interface Block {
  readonly label: string
  /** The line in which it begins, from 1. */
  readonly line: number
  /** DER. */
  readonly bytes: Buffer
}

/**
 * @param text each character is one byte
 * @returns the blocks for this use, in the form that OpenSSL writes
 */
export function readPem(text: string, use: PemUse): string | PemFault {
  const blocks = blocksOf(text.split(/\r?\n/))
  if (blocks instanceof PemFault) return blocks
  const fault = use === 'key' ? keyFault(blocks) : certificateFault(blocks, use)
  if (fault !== null) return new PemFault(fault)
  return blocks
    .filter(use === 'key' ? isKey : isCertificate)
    .map(written)
    .join('')
}

/** @param pem what `readPem` has returned */
export function certificatesOf(pem: string): X509Certificate[] {
  return (pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? []).map(
    (block) => new X509Certificate(block),
  )
}

/**
 * @param cert, key what `readPem` has returned
 * @returns whether it is the key of the first certificate
 */
export function isPair(cert: string, key: string): boolean {
  return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
}

const MARKER = /^-----(BEGIN|END) ([A-Z0-9][A-Z0-9 ]*)-----[ \t]*$/
/** Also as a word processor or a damaged copy has it: the line would count as text between blocks. */
const LIKE_MARKER =
  /-----[ \t]*(?:BEGIN|END|[Bb]egin|[Ee]nd)|\b(?:BEGIN|END) (?:[A-Z0-9]+ )*(?:CERTIFICATE|PRIVATE KEY)\b/
const BYTE_ORDER_MARK = '\xef\xbb\xbf'

/** Text between blocks is allowed (RFC 7468, section 2). */
function blocksOf(lines: readonly string[]): readonly Block[] | PemFault {
  const blocks: Block[] = []
  let open: { readonly label: string; readonly line: number } | null = null
  let body = ''
  for (const [at, content] of lines.entries()) {
    const line = at + 1
    const [, kind, label = ''] = MARKER.exec(content) ?? []
    if (kind === undefined && LIKE_MARKER.test(content)) return new PemFault(markerFault(content, line))
    if (kind === 'BEGIN') {
      if (open !== null) return unended(open.line, `before the next one begins in line ${line}`)
      open = { label, line }
      body = ''
    } else if (kind === 'END') {
      if (open?.label !== label)
        return new PemFault(`has an end of a block in line ${line} without its beginning: ${COPY}`)
      if (body === '' || body.length % 4 > 0 || !/^[^=]+={0,2}$/.test(body))
        return unended(open.line, 'that fits its content')
      blocks.push({ ...open, bytes: Buffer.from(body, 'base64') })
      open = null
    } else if (open !== null) {
      if (content.startsWith('Proc-Type:')) return new PemFault(withPassphrase(open.line))
      const part = content.replace(/[ \t]+$/, '')
      if (!/^[A-Za-z0-9+/]*={0,2}$/.test(part))
        return new PemFault(`has a character in line ${line} that is not base64: ${COPY}`)
      body += part
    }
  }
  return open === null ? blocks : unended(open.line, 'in the file')
}

const COPY = 'copy the whole file again'

function unended(line: number, where: string): PemFault {
  return new PemFault(`has a block that begins in line ${line} and has no end ${where}: ${COPY}`)
}

function markerFault(content: string, line: number): string {
  if (content.startsWith(BYTE_ORDER_MARK))
    return `has a byte order mark in line ${line}: save the file without it`
  if (/-----END [^-]*-----+BEGIN /.test(content))
    return `has an end and a beginning of two blocks in line ${line}: put a line end between them`
  return `has the beginning or the end of a block in line ${line} among other characters: put it on a line by itself, as -----BEGIN or -----END with the kind`
}

function withPassphrase(line: number): string {
  return `has a private key with a passphrase in line ${line}: name a PEM private key without a passphrase`
}

function isCertificate({ label }: Block): boolean {
  return label === 'CERTIFICATE'
}

function isKey({ label }: Block): boolean {
  return label.endsWith('PRIVATE KEY')
}

/** Parameters of a curve or of Diffie-Hellman: OpenSSL writes them beside keys, and TLS needs none. */
function isOfPair(block: Block): boolean {
  return isCertificate(block) || isKey(block) || block.label.endsWith(' PARAMETERS')
}

function certificateFault(blocks: readonly Block[], use: PemUse): string | null {
  const strange = blocks.find((block) => !(use === 'authorities' ? isCertificate(block) : isOfPair(block)))
  if (strange !== undefined && isKey(strange))
    return `has a private key in line ${strange.line}: a file of authorities holds certificates alone`
  if (strange !== undefined) return strangeFault(strange)
  const certificates = blocks.filter(isCertificate)
  const faulty = certificates.find(({ bytes }) => !isParsable(bytes))
  if (faulty !== undefined)
    return `has a certificate in line ${faulty.line} that cannot be parsed: issue it anew, or correct the file`
  return certificates.length > 0
    ? null
    : 'contains no PEM certificate: name a file that has -----BEGIN CERTIFICATE-----'
}

function keyFault(blocks: readonly Block[]): string | null {
  const strange = blocks.find((block) => !isOfPair(block))
  if (strange !== undefined) return strangeFault(strange)
  const [key, second] = blocks.filter(isKey)
  if (key === undefined)
    return 'contains no PEM private key: name a file that has -----BEGIN PRIVATE KEY-----'
  if (second !== undefined)
    return `contains several private keys, in lines ${key.line} and ${second.line}: put each into a file of its own`
  if (key.label.startsWith('ENCRYPTED')) return withPassphrase(key.line)
  try {
    createPrivateKey(written(key))
    return null
  } catch {
    return `has a private key in line ${key.line} that cannot be parsed: copy the whole file again, or make a new key`
  }
}

function strangeFault({ label, line }: Block): string {
  return `has a block in line ${line} that is not used here (${label}): remove it, or name another file`
}

/** Nothing may follow the certificate in its block. */
function isParsable(bytes: Buffer): boolean {
  try {
    return new X509Certificate(bytes).raw.length === bytes.length
  } catch {
    return false
  }
}

function written({ label, bytes }: Block): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}
