# Starts programs for a runtime, tells it how they end, and ends all of them when the runtime is gone.
#
# Node copies its page tables to start a program, so that takes longer the more memory it holds; this process
# stays small. It is written in Perl because nearly every Linux has it, it starts in 2 ms, and it reaches the
# system calls that matter: a child subreaper inherits whatever its descendants leave behind. No module is
# loaded, since POSIX alone would take 10 ms; what the language lacks is called by number.
#
# Both directions carry frames: four bytes of length, then fields with a NUL between them.
#   requests  start ID FOLDER DESCRIPTORS GROUPS COUNT ARGUMENT... (NAME VALUE)...
#             opened ID          the runtime has opened its ends of the pipes
#             strangers          programs with our mark were started by somebody else
#   events    ready DESCRIPTOR   try to open this one of ours
#             started ID PID END...
#             failed ID STAGE ERRNO
#             exited ID STATUS REPORT
use strict;

my ($machine, $mark) = @ARGV;
$0 = "hermes-launcher";

my %number = %{{
  x64   => { setsid => 112, dup3 => 292, prctl => 157, sigprocmask => 14,  signalfd => 289, exit => 231 },
  arm64 => { setsid => 157, dup3 => 24,  prctl => 167, sigprocmask => 135, signalfd => 74,  exit => 94 },
}->{$machine}};
my ($BLOCK, $SET_MASK, $CHILD_SUBREAPER, $CLOSE_ON_EXEC, $NONBLOCK) = (0, 2, 36, 02000000, 04000);
my ($SET_FLAGS, $SET_SIZE, $UNIX, $STREAM, $NO_WAIT) = (4, 1031, 1, 1, 1);
my ($CLONE3, $INTO_GROUP, $CHILD) = (435, 0x200000000, 17);
my ($NO_SIGNALS, $CHILD_SIGNAL) = (pack("Q", 0), pack("Q", 1 << 16));

# A terminal sends these to everybody who was started in it; only the end of requests ends this process.
my @ignored = qw(TERM INT HUP QUIT PIPE);
$SIG{$_} = "IGNORE" for @ignored;

# Nothing that the runtime itself was started with may reach a program, and the low numbers stay taken, so
# that no descriptor stands in the way of another one's number. Perl closes what lies above 2 on exec.
opendir my $own, "/proc/self/fd" or exit 1;
my @inherited = grep { /^\d+$/ && $_ > 2 && $_ != fileno $own } readdir $own;
closedir $own;
for my $descriptor (@inherited) {
  open my $handle, "<&=", $descriptor or next;
  close $handle;
}
my @taken;
while (not @taken or fileno $taken[-1] < 16) { open $taken[@taken], "<", "/dev/null" or exit 1 }
my $nothing = $taken[-1];
open my $requests, "<&", \*STDIN  or exit 1;
open my $events,   ">&", \*STDOUT or exit 1;
open STDIN,  "<", "/dev/null";
open STDOUT, ">", "/dev/null";

# Waiting for requests and for the end of children at once, without a moment in which a signal is missed.
syscall($number{sigprocmask}, $BLOCK, $CHILD_SIGNAL, 0, 8) == 0 or exit 1;
my $child_ended = syscall $number{signalfd}, -1, $CHILD_SIGNAL, 8, $CLOSE_ON_EXEC | $NONBLOCK;
open my $signals, "<&=", $child_ended or exit 1;
syscall($number{prctl}, $CHILD_SUBREAPER, 1, 0, 0, 0) == 0 or exit 1;

my (%child, %ends, $strangers);    # children by process number, ends of pipes by id of their start
my $watched = "";
vec($watched, fileno $_, 1) = 1 for $requests, $signals;

tell_runtime("ready", fileno $nothing);
serve();
end_everything();
exit 0;

sub serve {
  my $input = "";
  while (1) {
    my $found = select my $ready = $watched, undef, undef, undef;
    next if $found < 0;
    if (vec $ready, fileno $requests, 1) {
      $found--;
      sysread $requests, $input, 262_144, length $input or return;
      while (length $input >= 4) {
        my $size = unpack "N", $input;
        last if length $input < 4 + $size;
        obey(split /\0/, substr($input, 4, $size), -1);
        substr $input, 0, 4 + $size, "";
      }
    }
    if (vec $ready, fileno $signals, 1) { $found--; reap() }
    next if $found == 0;
    for my $child (values %child) { read_report($child) if vec $ready, fileno $child->{report}, 1 }
  }
}

sub obey {
  my ($request, $id, @rest) = @_;
  if    ($request eq "start")     { start($id, @rest) }
  elsif ($request eq "opened")    { delete $ends{$id} }
  elsif ($request eq "strangers") { $strangers = 1 }
}

sub tell_runtime {
  my $frame = pack "N/a*", join "\0", @_;
  for (my $sent = 0; $sent < length $frame; ) {
    $sent += syswrite($events, $frame, length($frame) - $sent, $sent) || return;
  }
}

sub start {
  my ($id, $folder, $descriptors, $groups, $count, @rest) = @_;
  my @arguments = splice @rest, 0, $count;
  my (@given, @ends);
  socketpair my $report, my $reporter, $UNIX, $STREAM, 0 or return failed($id);
  for my $wanted (split / /, $descriptors) {
    my ($handle, $end);
    if    ($wanted eq "nothing") { $handle = $nothing }
    elsif ($wanted eq "input")   { pipe $handle, $end or return failed($id) }
    elsif ($wanted eq "output")  { pipe $end, $handle or return failed($id) }
    elsif ($wanted eq "flood")   { pipe $end, $handle or return failed($id); fcntl $end, $SET_SIZE, 524_288 }
    elsif ($wanted =~ /^report:(.+)/) { $handle = $reporter; syswrite $report, "$1\n" }
    elsif ($wanted eq "same")    { $handle = $given[-1] }
    else                         { open $handle, "<", $wanted or return failed($id) }
    push @given, $handle;
    push @ends, $end if $end;
  }
  my $pid = fork_into($groups);
  if (defined $pid) { $groups = "" }
  else              { $pid = fork }
  return failed($id) if not defined $pid;
  become({ folder => $folder, arguments => \@arguments, variables => \@rest, given => \@given,
    groups => $groups, reporter => $reporter }) if $pid == 0;
  fcntl $report, $SET_FLAGS, $NONBLOCK;
  vec($watched, fileno $report, 1) = 1;
  $child{$pid} = { id => $id, report => $report, text => "" };
  $ends{$id} = \@ends if @ends;
  tell_runtime("started", $id, $pid, map { fileno $_ } @ends);
}

# Born in a group, a process need not be moved there, for which the kernel waits some milliseconds. Only where one
# group holds everything (the second version); elsewhere, and on old kernels, the child moves itself.
sub fork_into {
  my ($groups) = @_;
  my ($folder) = $groups =~ m{^([^\n]+)/cgroup\.procs$} or return undef;
  open my $group, "<", $folder or return undef;
  my $pid = syscall $CLONE3, pack("Q11", $INTO_GROUP, 0, 0, 0, $CHILD, 0, 0, 0, 0, 0, fileno $group), 88;
  return $pid < 0 ? undef : $pid;
}

sub failed {
  my ($id) = @_;
  tell_runtime("failed", $id, "resources", $! + 0);
}

# In the child; does not come back.
sub become {
  my ($program) = @_;
  my @arguments = @{ $program->{arguments} };
  syscall $number{setsid};
  $SIG{$_} = "DEFAULT" for @ignored;
  syscall $number{sigprocmask}, $SET_MASK, $NO_SIGNALS, 0, 8;
  my ($target, $stage) = (0, "resources");
  # Before there is anything to limit: what is started later belongs to the same groups.
  for my $file (split /\n/, $program->{groups}) {
    open my $group, ">", $file or give_up($program, $stage);
    syswrite $group, "0" or give_up($program, $stage);
  }
  for my $handle (@{ $program->{given} }) { syscall $number{dup3}, fileno $handle, $target++, 0 }
  $stage = "folder";
  if (chdir $program->{folder}) {
    %ENV = @{ $program->{variables} };
    $stage = "program";
    exec { $arguments[0] } @arguments;
  }
  give_up($program, $stage);
}

sub give_up {
  my ($program, $stage) = @_;
  syswrite $program->{reporter}, "\0$stage " . ($! + 0);
  syscall $number{exit}, 127;
}

# Read as it comes: a long report would stop the program. What the runtime does not use is dropped.
sub read_report {
  my ($child) = @_;
  while (1) {
    my $got = sysread $child->{report}, my $bytes, 65_536;
    return if not defined $got;
    if ($got == 0) { vec($watched, fileno $child->{report}, 1) = 0; return }
    $child->{text} .= $bytes if length $child->{text} < 262_144;
  }
}

sub reap {
  sysread $signals, my $which, 4096;
  while ((my $pid = waitpid -1, $NO_WAIT) > 0) {
    my $status = $?;
    my $child = delete $child{$pid} or next;
    read_report($child);
    vec($watched, fileno $child->{report}, 1) = 0;
    if ($child->{text} =~ /^\0(folder|program|resources) (\d+)$/) { tell_runtime("failed", $child->{id}, $1, $2) }
    else { tell_runtime("exited", $child->{id}, $status, $child->{text}) }
  }
}

# The runtime is gone: TERM, 0.3 s of grace, then KILL until nothing is left.
sub end_everything {
  my %asked;
  for my $round (0 .. 500) {
    my $reaped;
    do { $reaped = waitpid -1, $NO_WAIT } while $reaped > 0;
    return if $reaped < 0 and not $strangers;
    my @left = remaining() or return;
    for my $pid (@left) {
      if    ($round >= 30)      { kill "KILL", $pid }
      elsif (not $asked{$pid}++) { kill "TERM", $pid; kill "CONT", $pid }
    }
    select undef, undef, undef, 0.01;
  }
}

# Living processes that descend from this one or carry the runtime's mark.
sub remaining {
  my (%parent, @left);
  opendir my $all, "/proc" or return;
  for my $pid (grep { /^\d+$/ && $_ != $$ } readdir $all) {
    open my $file, "<", "/proc/$pid/stat" or next;
    sysread $file, my $line, 1024 or next;
    my ($state, $parent) = $line =~ /^.*\) (\S) (\d+)/s or next;
    $parent{$pid} = $parent unless $state =~ /[ZX]/;
  }
  for my $pid (keys %parent) {
    my $ancestor = $pid;
    $ancestor = $parent{$ancestor} while $ancestor and $ancestor != $$;
    push @left, $pid if $ancestor or carries_mark($pid);
  }
  return @left;
}

sub carries_mark {
  my ($pid) = @_;
  open my $file, "<", "/proc/$pid/environ" or return;
  my $variables = "";
  1 while sysread $file, $variables, 65_536, length $variables;
  return $variables =~ /(?:^|\0)HERMES_RUNTIME_ID=\Q$mark\E(?:\0|$)/;
}
