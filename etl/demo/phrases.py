"""Holds the made-up word parts, sentences and line patterns of the texts."""

_ONSETS = """
    b c d f g h j k l m n p r s t v w z
    bl br cl cr dr fl fr gl gr pl pr qu sc sh sk sl sp st str th tr tw
    """
_MIDDLES = "a e i o u ai ea ee ia io oa oo ou ar er or an en in on"
_ENDINGS = "d k l m n p r s t x ck ct ft ld le ly nd ng nt ry st ty ve ward ment tion"
_FOLDERS = "src lib app core api web tests internal pkg cmd scripts docs services models views jobs"
_COMMON_WORDS = """
    the a to of and in is for on with that it this as be are from by or an not at we can if when
    but all one out has only into then so no more each new first last same also after before
    add align append apply archive audit batch bind branch buffer build cache call chart check
    chunk clean client clock close cluster column commit compare config copy count cursor daily
    debug decode default define delay delete deploy depth diff digest direct drain draft drop
    edge encode entry error event expect export factor fail fetch field file filter find fix flag
    flush format frame fresh gauge group guard hash header heap hold host import index inner input
    insert invoice issue item join keep kernel label latch layer layout ledger length level limit
    line link list load local lock log loop map margin mask match measure merge method metric mode
    model module mount move name nested node note number offset open option order outer output
    owner packet page pair panel parse part patch path pause pending phase pipe plan point pool
    port prefix price print probe process profile prompt proof prune pull push query queue quota
    range rate raw read ready record region reject release remove render repair replay report
    request reset resolve result retry return review rollback root rotate route row rule run sample
    scale scan schema scope score search seed segment select send series server session setting
    shape shard share shift signal single size slice slot small snapshot socket sort source span
    split stack stage start state step stock store stream string suffix sum switch sync table tag
    target task tenant term test text thread threshold tick time token topic total trace track
    transfer tree trigger tuple turn type union unit update upload usage user valid value vector
    verify version view volume wait walk warehouse watch weight window worker wrap write zone
    """

ONSETS = tuple(_ONSETS.split())
MIDDLES = tuple(_MIDDLES.split())
ENDINGS = tuple(_ENDINGS.split())
FOLDERS = tuple(_FOLDERS.split())
COMMON_WORDS = tuple(_COMMON_WORDS.split())

FOREIGN_SENTENCES = (
    "Les données du café sont prêtes, mais la clé « été » manque encore.",
    "Die Größe der Tabelle überschreitet das zulässige Maß für heute.",
    "El año pasado el módulo tardó más en señalar el error.",
    "Příliš dlouhý řádek byl zkrácen před uložením do skladu.",
    "テストが三件失敗しました。設定ファイルを確認してください。",
    "请先检查缓存目录。然后重新运行导入任务。",
    "빌드가 끝나면 로그를 다시 확인해 주세요.",
    "Проверь, пожалуйста, что очередь пуста перед запуском.",
    "Deploy is green 🚀 and the queue is empty 🎉.",
    "Careful ⚠️ the 👩‍🔧 step still writes twice 🔁.",
    "Naïve façade coöperates with the señor résumé parser ✅.",
)

EXTENSIONS = ("py", "ts", "tsx", "go", "rs", "sql", "md", "yaml", "json", "css")
BRANCHES = ("main", "main", "develop", "feature/ledger-window", "fix/queue-drain", "")
SESSION_NAMES = (
    "amber-drifting-lantern",
    "quiet-folding-harbor",
    "brisk-humming-meadow",
    "silver-wandering-comet",
    "mellow-stacking-pebble",
)
SHELL_COMMANDS = (
    "git status --short",
    "git diff --stat",
    "git log --oneline -20",
    "ls -la src",
    "make test",
    "npm run build",
    "npm test -- --run",
    "python -m pytest -q",
    "cargo check",
    "go test ./...",
    "docker compose ps",
    "rg --files | head -50",
)
SLASH_COMMANDS = ("model", "cost", "status", "context", "theme", "agents", "config", "memory")
SKILL_COMMANDS = ("review-window", "plan-release", "tidy-imports", "write-notes")
AGENT_TYPES = ("general-purpose", "Explore", "Plan", "code-reviewer")

# Every pattern takes two names and one value, in this order; %.0s takes one and shows nothing.
CODE_LINES = (
    "    %s = self.%s(%s)",
    "        if %s.%s is not None and %s > 0:",
    "def %s(%s: str, limit: int = %s) -> None:",
    "    return {key: %s[key] for key in %s if key != '%s'}",
    "class %s(%s):  # %s",
    "        raise ValueError(f'{%s}: expected {%s}, found %s')",
    "    for %s in sorted(%s, key=lambda item: item.%s):",
    "    assert %s(%s) == '%s'",
    "import { %s, %s } from './%s';",
    "export const %s = (%s: Request): number => %s;",
    "  const %s = await %s.load({ retry: %s });",
    "  if (!%s || %s.length === 0) { return '%s'; }",
    "  %s.push({ ...%s, order: %s });",
    "interface %s extends %s { readonly %s: string }",
    "export async function %s(%s: string[], %s = false) {",
    "  }, [%s, %s]); // %s",
    "func (s *%s) %s(ctx context.Context) error { // %s",
    "\tif err := s.%s.%s(ctx, %s); err != nil {",
    '\t\treturn fmt.Errorf("%s %s: %%w", err) // %s',
    "\tfor _, %s := range %s[:%s] {",
    "pub fn %s(&self, %s: &str) -> Option<%s> {",
    "    let mut %s = Vec::with_capacity(%s.len() + %s);",
    "    match %s { Some(%s) => Ok(%s), None => Err(Missing) }",
    "SELECT %s, count(*) FROM %s WHERE %s IS NOT NULL",
    "LEFT JOIN %s ON %s.id = %s",
    "CREATE INDEX idx_%s ON %s (%s);",
    '    "%s": { "%s": "%s" },',
    "  %s: ${%s:-%s}",
    "# %s keeps %s until %s is full",
    "// TODO: %s should not know about %s (see %s)",
    "/* %s, %s and %s are read together */",
    "    <div className={styles.%s} onClick={() => %s(%s)}>",
    ".%s > .%s { padding: %spx; }",
    "    with %s(%s) as handle, pytest.raises(%s):",
    "    @property  # %s of %s, %s",
    "    log.debug('%s %%s after %%s', %s, %s)",
    "%.0s%.0s%.0s",
    "    }%.0s%.0s%.0s",
)

OUTPUT_LINES = (
    "PASS  tests/%s.test.ts > %s (%s ms)",
    "FAIL  tests/%s.test.ts > %s: expected %s",
    "tests/test_%s.py::test_%s_%s PASSED",
    "src/%s/%s.ts:%s: warning: value is never read",
    "-rw-r--r-- 1 dev dev  %.0s%.0s%s Jun 12 09:41 entry.log",
    "[INFO] %s: %s finished in %s ms",
    "[WARN] %s retries %s, attempt %s",
    "%s | %s | %s",
    "+    %s(%s, %s)",
    "-    %s(%s, '%s')",
    " @@ %s / %s @@ %s",
    "  at %s (src/%s.js:%s)",
    "warning: unused variable `%s` in `%s` (%s)",
    "Compiling %s v0.4.2 (%s) [%s]",
    "  modified:   src/%s/%s.py (%s)",
    "%s  %s  Running  %s",
)
