/**
 * Each of the 256 bytes, at each kind of position in a header section: the response is read, with the byte unchanged, or
 * refused. The parser alone reads all of them, and a whole gateway one of each kind.
 */

import t, { type Test } from 'tap'
import { Reading } from '../attacks/response-heads.ts'
import { harmless, HostileUpstream } from '../hostile/hostile-upstream.ts'

const hostile = await HostileUpstream.start(t)

const BYTES = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code))
const OF_EACH_KIND = [...'\0\t\n\v\r "(,/0:@Z_\x7f\x80\xa0\xff']

const line = (text: string) => `HTTP/1.1 200 OK\r\n${text}\r\nContent-Length: 4\r\n\r\nbody`
const length = (value: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${value}\r\n\r\nbody`
const status = (text: string) => `${text}\r\nContent-Length: 4\r\n\r\nbody`
const no = /(?!)/

/** @param valid bytes with which the response is read @param none bytes that make another response there */
interface Position {
  readonly of: (byte: string) => string
  readonly valid: RegExp
  readonly none?: RegExp
}

const POSITIONS: Readonly<Record<string, Position>> = {
  'in a name': { of: (byte) => line(`X${byte}A: a`), valid: /[!#$%&'*+\-.^_`|~0-9A-Za-z:]/ },
  'in a value': { of: (byte) => line(`X-A: a${byte}b`), valid: /[\t\x20-\x7e\x80-\xff]/ },
  'before a length': { of: (byte) => length(`${byte}4`), valid: /[ \t]/, none: /[0-9]/ },
  'within a length': { of: (byte) => length(`0${byte}4`), valid: no, none: /[0-9]/ },
  'behind a length': { of: (byte) => length(`4${byte}`), valid: /[ \t]/, none: /[0-9]/ },
  'before the status line': { of: (byte) => status(`${byte}HTTP/1.1 200 OK`), valid: no, none: /[\r\n]/ },
  'for a space': { of: (byte) => status(`HTTP/1.1${byte}200 OK`), valid: / / },
  'in the status': { of: (byte) => status(`HTTP/1.1 2${byte}0 OK`), valid: no, none: /[0-9]/ },
  'in a phrase': { of: (byte) => status(`HTTP/1.1 200 O${byte}K`), valid: /[^\r\n]/ },
}

for (const [where, { of, valid, none = no }] of Object.entries(POSITIONS)) {
  t.test(where, async (t) => {
    const wrong = BYTES.filter((byte) => !none.test(byte)).filter((byte) => {
      const read = new Reading().read(of(byte), false)
      return valid.test(byte) ? typeof read === 'string' : typeof read !== 'string' || read === 'not whole'
    })
    t.same(wrong, [], 'the parser')
    for (const byte of OF_EACH_KIND.filter((each) => !none.test(each)))
      if (valid.test(byte)) await passes(t, of(byte), JSON.stringify(byte))
      else await refused(t, of(byte), JSON.stringify(byte))
  })
}

async function passes(t: Test, packets: string, name: string): Promise<void> {
  const { all, rest } = await hostile.play({ packets })
  t.match([all, rest], [[{ status: 200, body: 'body' }], ''], name)
  const sent = /\r\nX-A: (.*)\r\n/.exec(packets)?.[1]
  if (sent !== undefined) t.equal(all[0]?.fields.find(([field]) => field === 'x-a')?.[1], sent, name)
}

/** Nothing of it reaches the client; now and then the next requests are checked too. */
async function refused(t: Test, packets: string, name: string): Promise<void> {
  const { all, rest } = await hostile.play({ packets })
  t.match([all, rest], [[{ status: 502, code: 'upstream_protocol_error' }], ''], name)
  if (hostile.played % 16 === 0) await harmless(t, hostile, name)
}

t.test('the parser returns the byte of a value', async (t) => {
  for (const byte of BYTES.filter((each) => /[\t\x20-\x7e\x80-\xff]/.test(each))) {
    const read = new Reading().read(line(`X-A: a${byte}b`), false)
    t.ok(typeof read !== 'string' && read.fields.includes(`a${byte}b`), JSON.stringify(byte))
  }
})
