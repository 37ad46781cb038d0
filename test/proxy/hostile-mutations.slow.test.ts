/** More mutated responses than in `hostile-mutations.test.ts`. */

import t from 'tap'
import { playMutated } from '../hostile/fuzz/mutated-answers.ts'

t.test('1000 mutated responses', (t) => playMutated(t, 1000))
