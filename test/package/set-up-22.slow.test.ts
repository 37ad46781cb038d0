/** See set-up.ts. */

import t from 'tap'
import { trySetUp } from './set-up.ts'
import { noRoots } from './slim-root.ts'

t.test('Node.js 22', { skip: noRoots() }, (t) => trySetUp(t, { node: '22', npm: '10.9' }))
