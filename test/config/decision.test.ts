/** `decision`: the listener that answers other proxies. */

import t from 'tap'
import { BASE, configOf, faultsAt, Folder } from './support.ts'

t.test('its settings', async (t) => {
  t.equal((await configOf(t, BASE)).decision, null)
  t.same((await configOf(t, `${BASE}decision: { listen: "127.0.0.1:9191" }\n`)).decision, {
    listen: { host: '127.0.0.1', port: 9191 },
    clients: ['127.0.0.0/8', '::1'],
    url: null,
  })
  const text =
    'decision: { listen: "[::1]:9191", clients: [10.0.0.0/8], url: https://Decisions.example:443 }\n'
  t.match((await configOf(t, BASE + text)).decision, {
    clients: ['10.0.0.0/8'],
    url: 'https://decisions.example',
  })
})

t.test('its faults', async (t) => {
  for (const [text, place] of [
    ['{}', '3:1'],
    ['{ listen: "9191" }', '3:21'],
    ['{ listen: "127.0.0.1:9191", clients: [10.0.0.0/33] }', '3:49'],
    ['{ listen: "127.0.0.1:9191", clients: [] }', '3:48'],
    ['{ listen: "127.0.0.1:9191", url: "https://a/path" }', '3:44'],
    ['{ listen: "127.0.0.1:9191", peers: [] }', '3:39'],
    ['{ listen: "127.0.0.1:9090" }', '3:21'],
    ['{ listen: "127.0.0.1:8080" }', '3:21'],
  ] as const)
    await faultsAt(t, `${BASE}decision: ${text}\n`, place)
})

t.test('a warning where every peer is trusted, also of trusted_proxies', async (t) => {
  const warnings = (text: string) => new Folder(t, { 'gateway.config.yaml': `${BASE}${text}\n` })
  for (const [network, place] of [
    ['[0.0.0.0/0]', '3:48'],
    ['[10.0.0.0/8, "::/0"]', '3:48'],
  ] as const) {
    const text = `decision: { listen: "127.0.0.1:9191", clients: ${network} }`
    await warnings(text).warningsAt(t, [`everyone_trusted ${place}`])
  }
  await warnings('decision: { listen: "127.0.0.1:9191", clients: [10.0.0.0/8] }').warningsAt(t, [])
  await warnings('trusted_proxies: [10.0.0.0/8, 0.0.0.0/0]').warningsAt(t, ['everyone_trusted 3:18'])
  await warnings('# seatgate: accept everyone_trusted\ntrusted_proxies: ["::/0"]').warningsAt(t, [])
})
