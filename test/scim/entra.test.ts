/**
 * What Microsoft Entra ID sends, by its documents: with the flag aadOptscim062020 and without. Not tried
 * against Entra itself.
 */

import t from 'tap'
import { GROUP, run, startScim, type Step, USER } from './support.ts'

const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'
const patch = (...Operations: readonly object[]) => ({ schemas: [PATCH], Operations })
const filtered = (type: string, filter: string, more = '') =>
  `/${type}?${more}filter=${encodeURIComponent(filter)}`

const NAME = 'Test_User_ab6490ee@acme.example'
const EXTERNAL = '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef'

const BEGIN: readonly Step[] = [
  {
    does: 'tests the connection with a name that nobody has',
    request: ['GET', filtered('Users', 'userName eq "0b6bb4ee-8d2a-4f8e-bf98-7363c4aed4ef"')],
    status: 200,
    has: { totalResults: 0, Resources: [] },
  },
  {
    does: 'looks for the user',
    request: ['GET', filtered('Users', `userName eq "${NAME}"`)],
    status: 200,
    has: { totalResults: 0 },
  },
  {
    does: 'creates the user',
    request: [
      'POST',
      '/Users',
      {
        schemas: [USER, ENTERPRISE],
        externalId: EXTERNAL,
        userName: NAME,
        active: true,
        emails: [{ primary: true, type: 'work', value: 'fda9d8ab@acme.example' }],
        meta: { resourceType: 'User' },
        name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
        roles: [],
        [ENTERPRISE]: { department: 'Sales', manager: { value: '7f4b' } },
      },
    ],
    status: 201,
    has: { externalId: EXTERNAL, [ENTERPRISE]: { department: 'Sales' } },
    as: 'user',
  },
  { does: 'reads it', request: ['GET', '/Users/{user}'], status: 200, has: { userName: NAME } },
  {
    does: 'finds it in other case',
    request: ['GET', filtered('Users', `userName eq "${NAME.toUpperCase()}"`)],
    status: 200,
    has: { totalResults: 1, Resources: [{ id: '{user}' }] },
  },
  {
    does: 'finds it by externalId',
    request: ['GET', filtered('Users', `externalId eq "${EXTERNAL}"`)],
    status: 200,
    has: { totalResults: 1 },
  },
  {
    does: 'finds it by address',
    request: ['GET', filtered('Users', 'emails[type eq "work"].value eq "FDA9d8ab@acme.example"')],
    status: 200,
    has: { totalResults: 1 },
  },
  {
    does: 'finds it by two attributes',
    request: ['GET', filtered('Users', `userName eq "${NAME}" and externalId eq "x"`)],
    status: 200,
    has: { totalResults: 0 },
  },
]

t.test('without the flag', async (t) => {
  const scim = await startScim(t)
  const ids = await run(t, scim, [
    ...BEGIN,
    {
      does: 'updates several attributes',
      request: [
        'PATCH',
        '/Users/{user}',
        patch(
          { op: 'Replace', path: 'displayName', value: 'Pvlo' },
          { op: 'Replace', path: 'emails[type eq "work"].value', value: 'TestBcwqnm@acme.example' },
          { op: 'Replace', path: 'name.givenName', value: 'Gtfd' },
          { op: 'Add', path: 'nickName', value: 'Babs' },
          { op: 'Add', path: `${ENTERPRISE}:employeeNumber`, value: 'Eqpj' },
          { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+1' },
          { op: 'Add', path: 'addresses[type eq "work"].country', value: 'NL' },
          { op: 'Add', path: 'roles[primary eq "True"].value', value: 'user' },
        ),
      ],
      status: 200,
      has: {
        displayName: 'Pvlo',
        nickName: 'Babs',
        name: { familyName: 'familyName', givenName: 'Gtfd' },
        emails: [{ type: 'work', value: 'TestBcwqnm@acme.example', primary: true }],
        phoneNumbers: [{ type: 'mobile', value: '+1' }],
        addresses: [{ type: 'work', country: 'NL' }],
        roles: [{ primary: true, value: 'user' }],
        [ENTERPRISE]: { department: 'Sales', employeeNumber: 'Eqpj' },
      },
    },
    {
      does: 'disables',
      request: ['PATCH', '/Users/{user}', patch({ op: 'Replace', path: 'active', value: 'False' })],
      status: 200,
      has: { active: false },
    },
    {
      does: 'enables',
      request: ['PATCH', '/Users/{user}', patch({ op: 'Replace', path: 'active', value: 'True' })],
      status: 200,
      has: { active: true },
    },
    {
      does: 'looks for the group',
      request: ['GET', filtered('Groups', 'displayName eq "Viewer"', 'excludedAttributes=members&')],
      status: 200,
      has: { totalResults: 0 },
    },
    {
      does: 'creates the group',
      request: [
        'POST',
        '/Groups',
        {
          schemas: [GROUP, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
          externalId: '8aa1a0c0',
          displayName: 'Viewer',
          meta: { resourceType: 'Group' },
        },
      ],
      status: 201,
      as: 'group',
    },
    {
      does: 'reads it without members',
      request: ['GET', '/Groups/{group}?excludedAttributes=members'],
      status: 200,
      has: { displayName: 'Viewer' },
    },
    {
      does: 'adds a member',
      request: [
        'PATCH',
        '/Groups/{group}',
        patch({ op: 'Add', path: 'members', value: [{ $ref: null, value: '{user}' }] }),
      ],
      status: 204,
    },
    {
      does: 'looks whether it is a member',
      request: ['GET', '/Groups?excludedAttributes=members&filter=members.value%20eq%20%22{user}%22'],
      status: 200,
      has: { totalResults: 1, Resources: [{ id: '{group}' }] },
    },
    {
      does: 'removes the member',
      request: [
        'PATCH',
        '/Groups/{group}',
        patch({ op: 'Remove', path: 'members', value: [{ $ref: null, value: '{user}' }] }),
      ],
      status: 204,
    },
    { does: 'has no member', request: ['GET', '/Groups/{group}'], status: 200, has: { members: [] } },
    {
      does: 'renames',
      request: ['PATCH', '/Groups/{group}', patch({ op: 'Replace', path: 'displayName', value: 'Editor' })],
      status: 204,
    },
    { does: 'deletes the user', request: ['DELETE', '/Users/{user}'], status: 204 },
    { does: 'asks for it', request: ['GET', '/Users/{user}'], status: 404 },
    { does: 'deletes it again', request: ['DELETE', '/Users/{user}'], status: 404 },
    { does: 'deletes the group', request: ['DELETE', '/Groups/{group}'], status: 204 },
  ])
  t.ok(ids.get('group'))
})

t.test('with the flag, which may stand in every query', async (t) => {
  const scim = await startScim(t)
  await run(t, scim, [
    ...BEGIN,
    {
      does: 'updates several attributes',
      request: [
        'PATCH',
        '/Users/{user}?aadOptscim062020',
        patch(
          { op: 'replace', path: 'emails[type eq "work"].value', value: 'TestMhvaes@acme.example' },
          {
            op: 'replace',
            value: {
              displayName: 'Bjfe',
              'name.givenName': 'Kkom',
              [`${ENTERPRISE}:employeeNumber`]: 'Aklq',
            },
          },
        ),
      ],
      status: 200,
      has: { displayName: 'Bjfe', name: { givenName: 'Kkom' }, [ENTERPRISE]: { employeeNumber: 'Aklq' } },
    },
    {
      does: 'disables',
      request: [
        'PATCH',
        '/Users/{user}?aadOptscim062020',
        patch({ op: 'replace', path: 'active', value: false }),
      ],
      status: 200,
      has: { active: false },
    },
    {
      does: 'finds it',
      request: ['GET', filtered('Users', `userName eq "${NAME}"`, 'aadOptscim062020&')],
      status: 200,
      has: { Resources: [{ active: false }] },
    },
    {
      does: 'creates the group',
      request: [
        'POST',
        '/Groups?aadOptscim062020',
        { schemas: [GROUP], displayName: 'Viewer', members: [{ value: '{user}' }] },
      ],
      status: 201,
      as: 'group',
    },
    {
      does: 'removes the member',
      request: ['PATCH', '/Groups/{group}', patch({ op: 'remove', path: 'members[value eq "{user}"]' })],
      status: 204,
    },
    { does: 'has no member', request: ['GET', '/Groups/{group}'], status: 200, has: { members: [] } },
  ])
})
