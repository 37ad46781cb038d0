/** A suite that shows anything else than docs/conformance.md says fails the run. */

import t from 'tap'
import { differences } from './page.ts'

const PAGE = `
| suite | version | cases | passed |
|---|---|---|---|
| a suite | 1 | 3 | 1 |

## a suite

| case | reason |
|---|---|
| \`5.1/2\`, \`5.1/3\` | why |

## another suite

| case | reason |
|---|---|
| \`5.1/1\` | why |
`

const shown = (results: Record<string, string | null>) =>
  differences(PAGE, 'a suite', new Map(Object.entries(results)))

t.test(
  'each deviation has a row, each row a deviation, and the figures are those of the suite',
  async (t) => {
    t.same(shown({ '5.1/1': null, '5.1/2': 'a reset', '5.1/3': 'a 400' }), [])
    t.same(shown({ '5.1/1': 'no answer', '5.1/2': 'a reset', '5.1/3': 'a 400' }), [
      '5.1/1 deviates, and has no row: no answer',
      'of 3 cases 0 pass, and not 3 | 1',
    ])
    t.same(shown({ '5.1/1': null, '5.1/2': null }), [
      '5.1/2 has a row, and passes',
      '5.1/3 has a row, and is no case',
      'of 2 cases 2 pass, and not 3 | 1',
    ])
  },
)
