/** `errors.md` has one entry a code, with its status, cause and remedy. */

import t from 'tap'
import { errors } from '../../src/model/errors.ts'
import { textOf } from './pages.ts'

const entries = [...textOf('docs/errors.md').matchAll(/^### (\w+)\n\n([\s\S]*?)(?=^##|(?![\s\S]))/gm)]

t.same(
  entries.map(([, code]) => code),
  Object.keys(errors),
  'the codes, in the order of the table',
)

for (const [, code = '', text = ''] of entries)
  t.test(code, async (t) => {
    const { status } = errors[code as keyof typeof errors]
    t.match(text, new RegExp(`^Status ${status}\\. [A-Z\`]`), 'status and cause')
    t.match(text, /^What to do: \S/m)
  })
