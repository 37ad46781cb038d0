/** `__proto__` and similar names are ordinary unknown keys. */

import t from 'tap'
import { BASE, faultsAt, SECRET, tableFaultsAt } from './support.ts'

for (const key of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf']) {
  t.test(key, async (t) => {
    await faultsAt(t, `${BASE}${key}: { listen: x }\n`, '3:1')
    const isTenant = !/[A-Z_]/.test(key)
    await faultsAt(t, `tenants:\n  ${key}: { token: { secrets: ['${SECRET}'] } }\n`, isTenant ? '' : '2:3')
    await faultsAt(t, `tenants: { a: { ${key}: 1, token: { secrets: ['${SECRET}'] } } }\n`, '1:17')
    await tableFaultsAt(t, `upstream: main\nroutes:\n  ${key}: public\n`, '3:3')
    await tableFaultsAt(t, `upstream: main\nroutes:\n  GET /a: { permission: a:b, ${key}: 1 }\n`, '3:30')
    await tableFaultsAt(t, `upstream: ${key}\nroutes: {}\n`, '1:11')
    await faultsAt(t, `${BASE}default_tenant: ${key}\n`, '3:17')
    await faultsAt(t, `${BASE}listen: '\${${key}}'\n`, '3:9')
  })
}

t.test('Object.prototype is unchanged', async (t) => {
  await faultsAt(
    t,
    `${BASE}__proto__: { polluted: 1 }\nconstructor: { prototype: { polluted: 1 } }\n`,
    '3:1 4:1',
  )
  t.equal(Reflect.get({}, 'polluted'), undefined)
})
