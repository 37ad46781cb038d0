/** `decision`: the listener that answers other proxies. */

import t from 'tap'
import { BASE, configOf, faultsAt } from './support.ts'

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
