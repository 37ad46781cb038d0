/** Lines for people hold nothing that could be taken for another line, or steer the terminal. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openLog } from '../../src/telemetry/logger.ts'
import { printable } from '../../src/telemetry/readable.ts'
import { folderWith } from '../cli/command-line.ts'

t.test('printable', async (t) => {
  const cases: Record<string, string> = {
    'plain, größe, 日本, 👩': 'plain, größe, 日本, 👩',
    'a\nb\r\t\0': 'a\\u000ab\\u000d\\u0009\\u0000',
    '\u001b[2J\u007f\u009b': '\\u001b[2J\\u007f\\u009b',
    '\u2028\u2029': '\\u2028\\u2029',
    'adm\u200bin \ufeff\u2060\u00ad\u3164\ufe0f': 'adm\\u200bin \\ufeff\\u2060\\u00ad\\u3164\\ufe0f',
    'a tag: \u{e0041}': 'a tag: \\udb40\\udc41',
    '\u202eabc\u2066\u200f\u061c': '\\u202eabc\\u2066\\u200f\\u061c',
    '\ud83d and \udc69': '\\ud83d and \\udc69',
  }
  for (const [text, expected] of Object.entries(cases)) t.equal(printable(text), expected)
})

t.test('the log, pretty: one line each, whatever is in them', async (t) => {
  const destination = join(folderWith(t, {}), 'log')
  const log = await openLog({ pretty: true, destination })
  const evil = 'eve\n[12:00:00] INFO: 200 allow\u001b[2J\u009b1m\u2028\u202e\ud800'
  log.logger.info(
    { method: 'GET', path: evil, status: 403, code: 'x', user: evil, tenant: 'acme' },
    'request',
  )
  log.logger.error({ status: 500, code: 'x', method: 'GET', path: '/', cause: evil }, 'request')
  log.logger.info({ faults: [evil], [evil]: evil }, evil)
  t.equal(await log.close(), true)
  const text = readFileSync(destination, 'utf8')
  const lines = text.trimEnd().split('\n')
  t.equal(lines.length, 3)
  t.match(lines[0], 'eve\\u000a[12:00:00] INFO: 200 allow\\u001b[2J\\u009b1m\\u2028\\u202e')
  // Colours are the logger's own.
  t.notMatch(text.replace(/\u001b\[\d+m/g, ''), /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u202e]/)
})
