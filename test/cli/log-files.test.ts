/** Logs are read line by line, whatever is in them. */

import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { findLogs, LineSplitter, linesOf } from '../../src/cli/replay/log-files.ts'
import { collected } from '../support/garbage.ts'
import { folderWith } from './command-line.ts'

const MOST = 8

t.test('any chunks give the same lines', async () => {
  const part = fc.constantFrom('a', 'bc', '\n', '\n\n', '\r\n', 'é', '€uro', '\0', 'x'.repeat(MOST + 1))
  const input = fc.array(part, { maxLength: 30 }).map((parts) => Buffer.from(parts.join('')))
  fc.assert(
    fc.property(input, fc.array(fc.integer({ min: 1, max: MOST }), { minLength: 1 }), (bytes, sizes) => {
      const splitter = new LineSplitter(MOST)
      const lines: string[] = []
      let tooLong = 0
      const take = (found: ReturnType<LineSplitter['push']>) => {
        lines.push(...found.lines)
        tooLong += found.tooLong
      }
      for (let at = 0, turn = 0; at < bytes.length; turn++) {
        const size = sizes[turn % sizes.length] ?? 1
        take(splitter.push(bytes.subarray(at, at + size)))
        at += size
      }
      take(splitter.end())
      const all = bytes.toString('utf8').split('\n')
      if (all.at(-1) === '') all.pop()
      assert.deepEqual(
        lines,
        all.filter((line) => Buffer.byteLength(line) <= MOST),
      )
      assert.equal(tooLong, all.length - lines.length)
    }),
    { numRuns: 500 },
  )
})

t.test('a line of 10 MB without an end is left out, and not kept', async (t) => {
  const splitter = new LineSplitter()
  const chunk = () => {
    const bytes = Buffer.alloc(256 * 1024, 'x')
    t.same(splitter.push(bytes).lines, [])
    return new WeakRef(bytes)
  }
  const chunks = Array.from({ length: 40 }, chunk)
  await collected()
  t.equal(chunks.filter((each) => each.deref() !== undefined).length, 0)
  t.same(splitter.push(Buffer.from('x\n{}\n')), { lines: ['{}'], tooLong: 1 })
  t.same(splitter.end(), { lines: [], tooLong: 0 })
})

t.test('one byte at a time', async (t) => {
  const splitter = new LineSplitter()
  const line = 'y'.repeat(10_000)
  for (const byte of Buffer.from(line)) assert.deepEqual(splitter.push(Buffer.from([byte])).lines, [])
  t.same(splitter.push(Buffer.from('\n')).lines, [line])
})

async function read(path: string) {
  const lines: string[] = []
  let bytes = 0
  let fault: string | null = null
  const never = new AbortController().signal
  try {
    for await (const batch of linesOf(path, (count) => (bytes += count), never)) lines.push(...batch.lines)
  } catch (cause) {
    fault = (cause as NodeJS.ErrnoException).code ?? String(cause)
  }
  return { lines, bytes, fault }
}

function fileOf(t: Test, content: string | Buffer): string {
  const folder = folderWith(t, {})
  const path = join(folder, 'access.log')
  writeFileSync(path, content)
  return path
}

const LINES = Array.from({ length: 10_000 }, (_, index) => `line ${index} ${'ü'.repeat(index % 50)}`)
const TEXT = LINES.join('\n')

t.test('plain and compressed, told by the first bytes', async (t) => {
  t.same(await read(fileOf(t, TEXT)), { lines: LINES, bytes: Buffer.byteLength(TEXT), fault: null })
  t.same((await read(fileOf(t, `\ufeff${TEXT}\r\n`))).lines, [...LINES.slice(0, -1), `${LINES.at(-1)}\r`])
  const packed = gzipSync(TEXT)
  t.same(await read(fileOf(t, packed)), { lines: LINES, bytes: packed.length, fault: null })
  const members = Buffer.concat([gzipSync('a\nb'), gzipSync('c\n'), gzipSync('')])
  t.same((await read(fileOf(t, members))).lines, ['a', 'bc'], 'several members are one text')
  for (const short of ['', '\n', '{', '\x1f'])
    t.same((await read(fileOf(t, short))).lines, short.trim() === '' ? (short === '' ? [] : ['']) : [short])
})

t.test('a compressed log that is cut or broken', async (t) => {
  const packed = gzipSync(TEXT)
  const cut = await read(fileOf(t, packed.subarray(0, packed.length - 5)))
  t.equal(cut.fault, 'Z_BUF_ERROR')
  t.same(cut.lines, LINES.slice(0, cut.lines.length), 'what was read is right')
  const broken = Buffer.from(packed)
  broken[2000] = (broken[2000] ?? 0) ^ 0xff
  t.match((await read(fileOf(t, broken))).fault, /^Z_/)
  t.match((await read(fileOf(t, Buffer.from([0x1f, 0x8b])))).fault, 'Z_BUF_ERROR')
})

t.test('what is no log is found before anything is read', async (t) => {
  const folder = folderWith(t, { 'a.log': 'a\n' })
  mkdirSync(join(folder, 'folder'))
  t.same(await findLogs([join(folder, 'a.log'), '-']), [2, null])
  await t.rejects(findLogs([join(folder, 'none')]), { message: /none cannot be read: ENOENT/ })
  await t.rejects(findLogs([join(folder, 'folder')]), { message: /folder cannot be read: EISDIR/ })
  await t.rejects(findLogs([join(folder, 'a.log', 'x')]), { message: /ENOTDIR/ })
  await t.rejects(findLogs([`${folder}/\u001b[2J`]), { message: /\\u001b\[2J cannot be read/ })
  if (process.getuid?.() === 0) return void t.comment('root may read every file')
  chmodSync(join(folder, 'a.log'), 0)
  await t.rejects(findLogs([join(folder, 'a.log')]), { message: /EACCES/ })
})
