/** `decision`: the listener that answers other proxies. */

import t from 'tap'
import { BASE, configOf, faultsOf } from './support.ts'

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
  for (const [text, message] of [
    ['{}', /listen/],
    ['{ listen: "9191" }', /not host:port/],
    ['{ listen: "127.0.0.1:9191", clients: [10.0.0.0/33] }', /prefix length/],
    ['{ listen: "127.0.0.1:9191", clients: [] }', /clients/],
    ['{ listen: "127.0.0.1:9191", url: "https://a/path" }', /scheme, host and port only/],
    ['{ listen: "127.0.0.1:9191", peers: [] }', /peers/],
    ['{ listen: "127.0.0.1:9090" }', /another listener of the gateway has this address/],
    ['{ listen: "127.0.0.1:8080" }', /another listener of the gateway has this address/],
  ] as const)
    t.match(await faultsOf(t, `${BASE}decision: ${text}\n`), [message], text)
})
