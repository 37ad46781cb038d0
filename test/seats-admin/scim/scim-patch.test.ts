/** Changes of users and groups in the forms that Okta and Microsoft Entra ID send, and in others. */

import t from 'tap'
import { ENTERPRISE_URN } from '../../../seats-admin/scim/scim-attributes.ts'
import { ScimFault } from '../../../seats-admin/scim/scim-fault.ts'
import { readGroupSteps } from '../../../seats-admin/scim/scim-groups.ts'
import { readOperations, type ScimOperation } from '../../../seats-admin/scim/scim-operations.ts'
import { patchUser } from '../../../seats-admin/scim/scim-user-patch.ts'
import { readUser, type UserAttributes } from '../../../seats-admin/scim/scim-users.ts'
import { end } from './support.ts'

const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'
const ALICE: UserAttributes = {
  userName: 'alice@acme.example',
  active: true,
  name: { familyName: 'Doe', givenName: 'Alice' },
  emails: [
    { value: 'alice@acme.example', type: 'work', primary: true },
    { value: 'a@home.example', type: 'home' },
  ],
}

function applied<R>(all: readonly unknown[], apply: (operations: ScimOperation[]) => R): R | ScimFault {
  const read = end(readOperations({ schemas: [PATCH], Operations: all }))
  return read instanceof ScimFault ? read : apply(read)
}

const user = (...all: readonly unknown[]) => applied(all, (read) => end(patchUser(ALICE, read)))
const group = (...all: readonly unknown[]) => applied(all, (read) => end(readGroupSteps(read)))

t.test('a user is deactivated and activated in every spelling', async (t) => {
  const off = { ...ALICE, active: false }
  for (const operation of [
    { op: 'replace', value: { active: false } },
    { op: 'Replace', path: 'active', value: 'False' },
    { op: 'replace', path: 'active', value: false },
    { op: 'REPLACE', path: 'Active', value: 'FALSE' },
    { OP: 'add', PATH: 'urn:ietf:params:scim:schemas:core:2.0:User:active', VALUE: 'false' },
    { op: 'replace', value: { id: 'x', 'urn:ietf:params:scim:schemas:core:2.0:User:ACTIVE': false } },
  ])
    t.strictSame(user(operation), off, JSON.stringify(operation))
  t.strictSame(user({ op: 'Replace', path: 'active', value: 'True' }), ALICE)
})

t.test('what would leave open whether a user is active is refused', async (t) => {
  for (const operation of [
    { op: 'remove', path: 'active' },
    { op: 'replace', path: 'active', value: null },
    { op: 'replace', path: 'active', value: 'no' },
    { op: 'replace', path: 'active', value: 0 },
    { op: 'replace', path: 'active', value: [] },
    { op: 'replace', path: 'active.value', value: false },
    { op: 'replace', path: 'active[value eq "x"]', value: false },
    { op: 'replace', path: 'urn:ietf:params:scim:schemas:core:2.0:User.active', value: false },
    { op: 'replace', path: 'urn:ietf:params:scim:schemas:core:1.0:User:active', value: false },
    { op: 'replace', path: ' active eq true', value: false },
    { op: 'replace', path: '', value: false },
    { op: 'replace', value: { active: false, Active: true } },
    { op: 'replace', value: [{ active: false }] },
    { op: 'replace', value: '{"active":false}' },
    { op: 'replace' },
  ])
    t.match(user(operation), { status: 400 }, JSON.stringify(operation))
})

t.test('attributes', async (t) => {
  t.match(user({ op: 'Add', path: 'nickName', value: 'Babs' }), { nickName: 'Babs' })
  t.match(
    user(
      { op: 'replace', path: 'emails[type eq "work"].value', value: 'new@acme.example' },
      {
        op: 'replace',
        value: {
          displayName: 'Bjfe',
          'name.givenName': 'Kkom',
          [`${ENTERPRISE_URN}:employeeNumber`]: 'Aklq',
          [ENTERPRISE_URN]: { department: 'Sales', 'manager.displayName': 'Bob' },
        },
      },
    ),
    {
      displayName: 'Bjfe',
      name: { familyName: 'Doe', givenName: 'Kkom' },
      emails: [{ value: 'new@acme.example', type: 'work', primary: true }, { type: 'home' }],
      [ENTERPRISE_URN]: { employeeNumber: 'Aklq', department: 'Sales', manager: { displayName: 'Bob' } },
    },
  )
  t.match(
    user({ op: 'Add', path: `${ENTERPRISE_URN}:manager`, value: '7f4b' }),
    { [ENTERPRISE_URN]: { manager: { value: '7f4b' } } },
    'a manager as text',
  )
  t.match(user({ op: 'add', path: 'name', value: { middleName: 'B' } }), {
    name: { familyName: 'Doe', givenName: 'Alice', middleName: 'B' },
  })
  t.notMatch(user({ op: 'remove', path: 'name.familyName' }), { name: { familyName: 'Doe' } })
  t.notOk('name' in user({ op: 'remove', path: 'name' }))
  t.strictSame(
    user(
      { op: 'add', path: ENTERPRISE_URN, value: { department: 'x' } },
      { op: 'remove', path: ENTERPRISE_URN },
    ),
    ALICE,
  )
  t.match(user({ op: 'replace', value: { 'emails[type eq "work"].value': 'w@acme.example' } }), {
    emails: [{ value: 'w@acme.example' }, {}],
  })
})

t.test('lists of values', async (t) => {
  const emailsAfter = (...all: readonly unknown[]) => {
    const after = user(...all)
    return after instanceof ScimFault ? after : after.emails
  }
  const [work, home] = ALICE.emails as readonly [object, object]
  const other = { value: 'o@acme.example', type: 'other' }
  t.strictSame(emailsAfter({ op: 'add', path: 'emails', value: [other] }), [work, home, other])
  t.strictSame(emailsAfter({ op: 'add', path: 'emails', value: other }), [work, home, other], 'an object')
  t.strictSame(emailsAfter({ op: 'add', path: 'emails', value: [home] }), [work, home], 'no duplicate')
  t.strictSame(emailsAfter({ op: 'replace', path: 'emails', value: [other] }), [other])
  t.strictSame(emailsAfter({ op: 'replace', path: 'emails', value: [] }), undefined)
  t.strictSame(emailsAfter({ op: 'remove', path: 'emails' }), undefined)
  t.strictSame(emailsAfter({ op: 'remove', path: 'emails', value: [{ value: 'a@home.example' }] }), [work])
  t.strictSame(emailsAfter({ op: 'remove', path: 'emails[type eq "home"]' }), [work])
  t.strictSame(emailsAfter({ op: 'remove', path: 'emails[type eq "fax"]' }), [work, home])
  t.strictSame(
    emailsAfter({ op: 'remove', path: 'emails[type eq "home" and primary eq true]' }),
    [work, home],
    'both hold',
  )
  t.strictSame(emailsAfter({ op: 'remove', path: 'emails[primary eq "True"]' }), [home])
  t.strictSame(
    emailsAfter({ op: 'add', path: 'emails[type eq "other"].value', value: 'o@acme.example' }),
    [work, home, other],
    'a value that is missing is made',
  )
  t.strictSame(emailsAfter({ op: 'add', path: 'emails[type eq "home"]', value: { display: 'x' } }), [
    work,
    { value: 'a@home.example', display: 'x', type: 'home' },
  ])
  t.strictSame(
    emailsAfter({ op: 'replace', path: 'emails[type eq "home"]', value: { value: 'x' } }),
    [work, { value: 'x', type: 'home' }],
    'it stays what the filter says',
  )
  t.strictSame(
    emailsAfter({ op: 'add', path: 'emails', value: [{ ...other, primary: true }] }),
    [{ ...work, primary: false }, home, { ...other, primary: true }],
    'one is primary',
  )
  t.strictSame(emailsAfter({ op: 'replace', path: 'emails[type eq "home"].primary', value: 'True' }), [
    { ...work, primary: false },
    { ...home, primary: true },
  ])
  t.match(
    emailsAfter({ op: 'add', path: 'emails', value: ['a', 'b'].map((value) => ({ value, primary: true })) }),
    { scimType: 'invalidValue' },
  )
  const many = Array.from({ length: 300 }, (_, at) => ({ value: `${at}@acme.example` }))
  t.match(emailsAfter({ op: 'add', path: 'emails', value: many }), { scimType: 'invalidValue' })
})

t.test('unknown attributes are taken and dropped', async (t) => {
  for (const operation of [
    { op: 'add', path: 'favouriteColour', value: 'blue' },
    { op: 'add', path: 'password', value: 'secret' },
    { op: 'remove', path: 'favouriteColour' },
    { op: 'add', path: 'name.nick', value: 'x' },
    { op: 'add', path: `${ENTERPRISE_URN}:shoe`, value: 'x' },
    { op: 'add', path: 'urn:okta:acme_1:1.0:user:custom:color', value: 'x' },
    { op: 'add', path: 'constructor', value: 'x' },
    { op: 'add', value: JSON.parse('{"toString":"x","meta":{},"schemas":[]}') },
  ])
    t.strictSame(user(operation), ALICE, JSON.stringify(operation))
  t.strictSame(
    readUser(
      JSON.parse(
        '{"userName":"u","password":"secret","__proto__":{"active":false},"groups":[{"value":"admin"}],"id":"x"}',
      ),
    ),
    { userName: 'u' },
  )
})

t.test('faults of a change of a user, and nothing is changed', async (t) => {
  const faults: Readonly<Record<string, readonly unknown[]>> = {
    noTarget: [{ op: 'remove' }],
    mutability: [
      { op: 'replace', path: 'id', value: 'x' },
      { op: 'remove', path: 'meta' },
    ],
    invalidPath: [
      ...[
        'a b',
        'emails[',
        'emails]',
        'emails[type eq "work"',
        'emails[type ne "work"].value',
        'emails[].value',
      ],
      ...[
        'emails[shoe eq "x"].value',
        'userName[value eq "x"]',
        'name[familyName eq "x"]',
        'displayName.x',
        'a.b.c',
      ],
      ...['emails[type eq "work"].', 'emails[type eq "work"]x', 'emails[type eq "work"][type eq "work"]'],
    ].map((path) => ({ op: 'replace', path, value: 'x' })),
    invalidValue: [
      { op: 'remove', path: 'userName' },
      { op: 'replace', path: 'userName', value: 7 },
      { op: 'replace', path: 'userName', value: null },
      { op: 'replace', path: 'externalId' },
      { op: 'add', path: 'title' },
      { op: 'replace', path: 'displayName', value: { x: 1 } },
      { op: 'add', path: 'name', value: ['x'] },
      { op: 'add', path: 'emails', value: [7] },
      { op: 'add', path: 'title', value: 'a\u0000b' },
      { op: 'add', path: 'title', value: '\ud800' },
    ],
    invalidSyntax: [{ op: 'move', path: 'title' }, { path: 'title' }, 7, { op: 'add', path: 7, value: 1 }],
  }
  for (const [scimType, all] of Object.entries(faults))
    for (const each of all) {
      const read = end(readOperations({ Operations: [{ op: 'add', path: 'title', value: 'x' }, each] }))
      const fault = read instanceof ScimFault ? read : end(patchUser(ALICE, read))
      t.match(fault, { status: 400, scimType }, JSON.stringify(each))
    }
  t.notOk('title' in ALICE, 'all or nothing')
  const bodies = [
    null,
    [],
    'x',
    {},
    { Operations: [] },
    { Operations: {} },
    { schemas: ['x'], Operations: [{}] },
  ]
  for (const body of [...bodies, { Operations: [], operations: [] }])
    t.match(end(readOperations(body)), { scimType: 'invalidSyntax' }, JSON.stringify(body))
  const many = Array.from({ length: 300 }, () => ({ op: 'add', path: 'title', value: 'x' }))
  t.match(user(...many), { scimType: 'invalidValue' })
})

const [A, B, C] = [
  '01KAJ0Z1V5Q8T2C0W7M3E9R4XA',
  '01KAJ0Z1V5Q8T2C0W7M3E9R4XB',
  '01KAJ0Z1V5Q8T2C0W7M3E9R4XC',
] as const

t.test('members of groups', async (t) => {
  const cases: readonly (readonly [unknown, unknown])[] = [
    [
      { op: 'add', path: 'members', value: [{ value: A, display: 'alice' }, { value: B }] },
      [{ add: [A, B] }],
    ],
    [{ op: 'Add', path: 'members', value: [{ $ref: null, value: A }] }, [{ add: [A] }]],
    [{ op: 'add', path: 'members', value: { value: A, type: 'User' } }, [{ add: [A] }]],
    [{ op: 'add', path: 'members', value: [{ Value: A }, { value: A }] }, [{ add: [A] }]],
    [{ op: 'add', value: { members: [{ value: A }] } }, [{ add: [A] }]],
    [{ op: 'remove', path: `members[value eq "${A}"]` }, [{ remove: [A] }]],
    [{ op: 'Remove', path: `Members[Value Eq "${A}"]` }, [{ remove: [A] }]],
    [{ op: 'Remove', path: 'members', value: [{ value: A }, { value: B }] }, [{ remove: [A, B] }]],
    [{ op: 'remove', path: 'members', value: [] }, [{ remove: [] }]],
    [{ op: 'remove', path: 'members', value: [{ value: 'u1091' }] }, [{ remove: [] }]],
    [{ op: 'remove', path: 'members[value eq "u1091"]' }, []],
    [{ op: 'replace', path: 'members', value: [{ value: C }] }, [{ replace: [C] }]],
    [{ op: 'replace', path: 'members', value: [] }, [{ replace: [] }]],
    [{ op: 'replace', value: { id: 'x', displayName: 'New' } }, [{ set: { displayName: 'New' } }]],
    [{ op: 'replace', path: 'displayName', value: 'New' }, [{ set: { displayName: 'New' } }]],
    [{ op: 'Add', path: 'externalId', value: 'x' }, [{ set: { externalId: 'x' } }]],
    [{ op: 'remove', path: 'externalId' }, [{ set: { externalId: null } }]],
    [{ op: 'add', path: 'description', value: 'x' }, []],
    [
      { op: 'replace', path: 'urn:ietf:params:scim:schemas:core:2.0:Group:members', value: [] },
      [{ replace: [] }],
    ],
  ]
  for (const [operation, steps] of cases) t.strictSame(group(operation), steps, JSON.stringify(operation))
})

t.test('members one by one are one step, in order', async (t) => {
  const add = (value: string) => ({ op: 'add', path: 'members', value: [{ value }] })
  t.strictSame(group(add(A), add(B), { op: 'remove', path: `members[value eq "${A}"]` }, add(C)), [
    { add: [A, B] },
    { remove: [A] },
    { add: [C] },
  ])
})

t.test('no change of members empties a group by accident', async (t) => {
  const members: readonly unknown[] = [
    { op: 'remove', path: 'members' },
    { op: 'remove', path: 'members', value: null },
    { op: 'replace', path: 'members' },
    { op: 'replace', path: 'members', value: null },
    { op: 'replace', value: { members: null } },
    { op: 'remove', path: 'members', value: {} },
    { op: 'remove', path: 'members', value: [{}] },
    { op: 'remove', path: 'members', value: [{ display: 'alice' }] },
    { op: 'remove', path: 'members', value: 'x' },
    { op: 'remove', path: 'members[]' },
    { op: 'remove', path: 'members[value pr]' },
    { op: 'remove', path: 'members[value ne "x"]' },
    { op: 'remove', path: `members[value eq "${A}" or value eq "${B}"]` },
    { op: 'remove', path: `members[value eq "${A}" and value eq "${B}"]` },
    { op: 'remove', path: 'members[display eq "alice"]' },
    { op: 'remove', path: 'members[value eq true]' },
    { op: 'remove', path: `members[value eq "${A}"].value` },
    { op: 'remove', path: 'members.value' },
    { op: 'replace', path: `members[value eq "${A}"]`, value: [] },
  ]
  for (const operation of members) t.match(group(operation), { status: 400 }, JSON.stringify(operation))
})

t.test('wrong members and names', async (t) => {
  for (const value of [
    ...[[{ value: 'alice' }], [{ value: '' }], [{ value: 7 }], [{}], ['x'], [null], 7, [[{ value: A }]]],
    ...[
      [{ value: A, Value: B }],
      [{ value: A, type: 'Group' }],
      [{ value: `${A}\u0000` }],
      [{ value: `../${A}` }],
    ],
  ])
    for (const op of ['add', 'replace'])
      t.match(group({ op, path: 'members', value }), { scimType: 'invalidValue' }, JSON.stringify(value))
  for (const value of [7, null, {}, ['x']])
    t.match(group({ op: 'replace', path: 'displayName', value }), { scimType: 'invalidValue' }, String(value))
  t.match(group({ op: 'remove', path: 'displayName' }), { scimType: 'invalidValue' })
  t.match(group({ op: 'replace', path: 'id', value: 'x' }), { scimType: 'mutability' })
})
