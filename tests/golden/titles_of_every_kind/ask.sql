-- titles: name before custom title before made-up title before summary before prompt; the last of a kind; entering a worktree gives no title
select session_id, title, title_source, goal from sessions order by session_id;

-- turns: no title is one
select session_id, turns, responses from sessions order by session_id;

-- compactions: nor is a summary
select count(*) as compactions from compactions;

-- drift: nothing unknown
select kind, name from format_drift;
