// One thing that `doctor` has to say.
export interface Finding {
  level: 'problem' | 'advice'
  where: string
  finding: string
  fix: string
}
