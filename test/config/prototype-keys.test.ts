/** `__proto__` and similar names are ordinary unknown keys. */

import t from 'tap'
import { BASE, faultsOf, SECRET, tableFaults } from './support.ts'

for (const key of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf']) {
  t.test(key, async (t) => {
    t.match(await faultsOf(t, `${BASE}${key}: { listen: x }\n`), [
      new RegExp(`^3:1: "${key}" is not a known key`),
    ])
    const tenant = `tenants:\n  ${key}: { token: { secrets: ['${SECRET}'] } }\n`
    t.match(
      await faultsOf(t, tenant),
      [new RegExp(`^2:3: tenant "${key}"|^$`)].filter(() => /[A-Z_]/.test(key)),
    )
    t.match(await faultsOf(t, `tenants: { a: { ${key}: 1, token: { secrets: ['${SECRET}'] } } }\n`), [
      new RegExp(`^1:17: "${key}" is not a known key`),
    ])
    t.match(await tableFaults(t, `upstream: main\nroutes:\n  ${key}: public\n`), [
      new RegExp(`^3:3: "${key}" is not "METHOD /path"`),
    ])
    t.match(await tableFaults(t, `upstream: main\nroutes:\n  GET /a: { permission: a:b, ${key}: 1 }\n`), [
      new RegExp(`^3:30: "${key}" is not a known key`),
    ])
    t.match(await tableFaults(t, `upstream: ${key}\nroutes: {}\n`), [
      /^1:11: upstream: .* is not an upstream/,
    ])
    t.match(await faultsOf(t, `${BASE}default_tenant: ${key}\n`), [
      /^3:17: default_tenant: .* is not a tenant/,
    ])
    t.match(await faultsOf(t, `${BASE}listen: '\${${key}}'\n`), [/^3:9: .*environment variable .* not set/])
  })
}

t.test('Object.prototype is unchanged', async (t) => {
  await faultsOf(t, `${BASE}__proto__: { polluted: 1 }\nconstructor: { prototype: { polluted: 1 } }\n`)
  t.equal(Reflect.get({}, 'polluted'), undefined)
})
