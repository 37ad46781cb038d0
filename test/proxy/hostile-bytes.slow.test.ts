/**
 * Each of the 256 bytes, at each kind of position in a header section: it passes unchanged, or the response is
 * refused.
 */

import t, { type Test } from 'tap'
import { harmless, HostileUpstream, type Script } from '../hostile/hostile-upstream.ts'

const around = (line: string) => `HTTP/1.1 200 OK\r\n${line}\r\nContent-Length: 4\r\n\r\nbody`
/** Nothing of it reaches the client; now and then the next requests are checked too. */
async function refused(t: Test, hostile: HostileUpstream, name: string, script: Script) {
  const { all, rest } = await hostile.play(script)
  t.match([all, rest], [[{ status: 502, code: 'upstream_protocol_error' }], ''], name)
  if (hostile.played % 16 === 0) await harmless(t, hostile, name)
}

const TCHAR = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]$/

t.test('in a name', async (t) => {
  const hostile = await HostileUpstream.start(t)
  for (let code = 0; code < 256; code++) {
    const byte = String.fromCharCode(code)
    const script = { packets: around(`X${byte}A: a`) }
    if (TCHAR.test(byte) || byte === ':') {
      const { all } = await hostile.play(script)
      t.match(all, [{ status: 200, body: 'body' }], `0x${code.toString(16)}`)
    } else await refused(t, hostile, `0x${code.toString(16)}`, script)
  }
})

t.test('in a value', async (t) => {
  const hostile = await HostileUpstream.start(t)
  for (let code = 0; code < 256; code++) {
    const byte = String.fromCharCode(code)
    const script = { packets: around(`X-A: a${byte}b`) }
    if (code === 9 || (code >= 0x20 && code !== 0x7f)) {
      const { all } = await hostile.play(script)
      t.equal(all[0]?.fields.find(([name]) => name === 'x-a')?.[1], `a${byte}b`, `0x${code.toString(16)}`)
    } else await refused(t, hostile, `0x${code.toString(16)}`, script)
  }
})

t.test('before, within and after a length', async (t) => {
  const hostile = await HostileUpstream.start(t)
  for (let code = 0; code < 256; code++) {
    const byte = String.fromCharCode(code)
    if (/[0-9]/.test(byte)) continue
    for (const [value, blank] of [
      [`${byte}4`, true],
      [`4${byte}`, true],
      [`0${byte}4`, false],
    ] as const) {
      const name = `${JSON.stringify(value)}`
      const script = { packets: `HTTP/1.1 200 OK\r\nContent-Length: ${value}\r\n\r\nbody` }
      if (blank && (byte === ' ' || byte === '\t')) {
        const { all } = await hostile.play(script)
        t.match(all, [{ status: 200, body: 'body' }], name)
      } else await refused(t, hostile, name, script)
    }
  }
})

t.test('before the status line, and in it', async (t) => {
  const hostile = await HostileUpstream.start(t)
  const rest = '\r\nContent-Length: 4\r\n\r\nbody'
  for (let code = 0; code < 256; code++) {
    const byte = String.fromCharCode(code)
    const name = `0x${code.toString(16)}`
    if (byte !== '\r' && byte !== '\n')
      await refused(t, hostile, `${name} first`, { packets: `${byte}HTTP/1.1 200 OK${rest}` })
    if (byte !== ' ')
      await refused(t, hostile, `${name} for a space`, { packets: `HTTP/1.1${byte}200 OK${rest}` })
    if (!/[0-9]/.test(byte))
      await refused(t, hostile, `${name} in the status`, { packets: `HTTP/1.1 2${byte}0 OK${rest}` })
  }
})

t.test('no byte of a reason phrase becomes a line at the client', async (t) => {
  const hostile = await HostileUpstream.start(t)
  for (let code = 0; code < 256; code++) {
    const packets = `HTTP/1.1 200 O${String.fromCharCode(code)}K\r\nContent-Length: 4\r\n\r\nbody`
    const { all, rest } = await hostile.play({ packets })
    t.equal(rest, '', `0x${code.toString(16)}`)
    t.match(all, [code === 10 || code === 13 ? { status: 502 } : { status: 200, body: 'body' }])
  }
})
